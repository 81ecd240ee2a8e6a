"""Uses the chain through a gateway's RPC with web3.py: `python rpc_web3.py RPC_URL PRIVATE_KEY VAULT`."""

import json
import sys

from web3 import Web3
from web3.exceptions import MethodUnavailable, Web3RPCError

url, key, vault = sys.argv[1:]
web3 = Web3(Web3.HTTPProvider(url))
assert web3.is_connected()
account = web3.eth.account.from_key(key)
ADDRESS, AMOUNT = {"name": "", "type": "address"}, {"name": "", "type": "uint256"}
ABI = [
    {"type": "function", "name": "deposit", "stateMutability": "payable", "inputs": [], "outputs": []},
    {"type": "function", "name": "balance", "stateMutability": "view", "inputs": [ADDRESS], "outputs": [AMOUNT]},
    {
        "type": "event",
        "name": "Deposited",
        "anonymous": False,
        "inputs": [
            {"name": "payer", "type": "address", "indexed": True},
            {"name": "amount", "type": "uint256", "indexed": False},
        ],
    },
]
contract = web3.eth.contract(address=Web3.to_checksum_address(vault), abi=ABI)
before = contract.functions.balance(account.address).call()
tip = max(web3.eth.max_priority_fee, 10**9)
base_fee = web3.eth.fee_history(1, "latest")["baseFeePerGas"][-1]
built = contract.functions.deposit().build_transaction(
    {
        "from": account.address,
        "value": 1000,
        "nonce": web3.eth.get_transaction_count(account.address),
        "maxPriorityFeePerGas": tip,
        "maxFeePerGas": 2 * base_fee + tip,
    }
)
sent = web3.eth.send_raw_transaction(account.sign_transaction(built).raw_transaction)
receipt = web3.eth.wait_for_transaction_receipt(sent, poll_latency=0.1)
block = receipt["blockNumber"]
after = contract.functions.balance(account.address).call(block_identifier=block)
logs = contract.events.Deposited().get_logs(
    from_block=block, to_block=block, argument_filters={"payer": account.address}
)
try:
    web3.eth.filter("latest")
    refused = False
except (MethodUnavailable, Web3RPCError):
    refused = True
print(
    json.dumps(
        {
            "chainId": web3.eth.chain_id,
            "hash": Web3.to_hex(sent),
            "status": receipt["status"],
            "deposited": str(after - before),
            "logs": len(logs),
            "refused": refused,
        }
    )
)
