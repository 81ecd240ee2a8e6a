"""The same as deposits.mjs, with web3.py: `python deposits.py RPC_URL PRIVATE_KEY`."""

import json
import sys

from web3 import Web3

GAS = 500_000


def function(name: str, *types: str, mutability: str = "nonpayable") -> dict:
    inputs = [{"name": f"argument{place}", "type": kind} for place, kind in enumerate(types)]
    return {"type": "function", "name": name, "stateMutability": mutability, "inputs": inputs, "outputs": []}


ABI = [
    function("transfer", "address", "uint256"),
    function("transferFrom", "address", "address", "uint256"),
    function("approve", "address", "uint256"),
    function("mint", "address", "uint256"),
    function("move", "address", "address", "address", "uint256[]"),
    function("moveAndUndo", "address", "address", "address", "uint256"),
    function("sendLessFee", "address", "uint256"),
    function("claim", "address", "uint256"),
    function("sendUnindexed", "address", "uint256"),
    function("sendCollectible", "address", "uint256"),
    function("forward", "address", mutability="payable"),
    function("bequeath", "address", mutability="payable"),
]


def whole(value):
    """Amounts come as texts."""
    if isinstance(value, list):
        return [whole(one) for one in value]
    return int(value) if value.isdigit() else Web3.to_checksum_address(value)


url, key = sys.argv[1:]
web3 = Web3(Web3.HTTPProvider(url))
account = web3.eth.account.from_key(key)
hashes = []
for step in json.load(sys.stdin):
    to = Web3.to_checksum_address(step["to"])
    nonce = web3.eth.get_transaction_count(account.address)
    fees = {"gas": GAS, "nonce": nonce, "gasPrice": 2 * web3.eth.gas_price, "chainId": web3.eth.chain_id}
    fees["value"] = int(step.get("wei", 0))
    if "name" not in step:
        transaction = {"to": to, **fees}
    else:
        arguments = [whole(value) for value in step["args"]]
        called = web3.eth.contract(address=to, abi=ABI).functions[step["name"]](*arguments)
        transaction = called.build_transaction({"from": account.address, **fees})
    sent = web3.eth.send_raw_transaction(account.sign_transaction(transaction).raw_transaction)
    web3.eth.wait_for_transaction_receipt(sent, poll_latency=0.05)
    hashes.append(Web3.to_hex(sent))
print(json.dumps(hashes))
