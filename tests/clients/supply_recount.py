"""Computes the coin's supply again from raw answers of a JSON-RPC server, block by block, and compares it with /api/supply.

Shares nothing with the gateway: no fee history, no eras, integers of Python. Fails at the first number that differs.

    python supply_recount.py BASE_URL RPC_URL ISSUANCE_JSON
"""

import json
import sys
import urllib.request

COIN = 10**18
SELECTORS = {"locked": "0x55234ec0", "vesting": "0xfbccedae"}

base_url, rpc_url, issuance = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])


def get(path):
    with urllib.request.urlopen(base_url + path) as answer:
        return answer.headers, answer.read().decode()


def rpc(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(rpc_url, body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        told = json.load(answer)
    if told.get("result") is None:
        sys.exit(f"{method}{params}: {told}")
    return told["result"]


def coins(wei):
    whole, fraction = divmod(wei, COIN)
    return f"{whole}.{fraction:018d}".rstrip("0") + ("0" if fraction == 0 else "")


def expect(what, told, computed):
    if told != computed:
        sys.exit(f"{what}: the gateway says {told}, the chain {computed}")


def setting(name, default=0):
    return int(issuance.get(name, default))


supply = json.loads(get("/api/supply")[1])
block, at = supply["asOfBlock"], hex(supply["asOfBlock"])
expect("head", supply["head"], block + 64)
expect("asOfTimestamp", supply["asOfTimestamp"], int(rpc("eth_getBlockByNumber", at, False)["timestamp"], 16))

burned, before = setting("burn_wei"), None
for number in range(setting("burn_block") + 1, block + 1):
    header = rpc("eth_getBlockByNumber", hex(number), False)
    if before and header["parentHash"] != before:
        sys.exit(f"block {number} is no child of block {number - 1}")
    before = header["hash"]
    burned += int(header["gasUsed"], 16) * int(header.get("baseFeePerGas", "0x0"), 16)

first, reward, halving = setting("first_block", 1), setting("reward_wei"), setting("halving_blocks")


def reward_at(number):
    return reward >> (number // halving) if halving else 0


paid = sum(reward_at(number) for number in range(first, block + 1))
earlier = sum(setting(f"earlier_{part}_wei") for part in ("base", "uncle", "nephew"))
ever, number = 0, first
while reward_at(number):
    # Up to the end of an era, which has one reward.
    end = (number // halving + 1) * halving
    ever, number = ever + (end - number) * reward_at(number), end

dead = 0
for told in supply["components"]["burnAddresses"]["addresses"]:
    wei = int(rpc("eth_getBalance", told["address"], at), 16)
    expect(f"burned on {told['address']}", told["wei"], str(wei))
    dead += wei

excluded = 0
for told in supply["excluded"]:
    balance = int(rpc("eth_getBalance", told["address"], at), 16)
    expect(f"balance of {told['label']}", told["balance"], coins(balance))
    kept = balance
    if told["category"] == "vesting":
        call = {"to": told["address"], "data": SELECTORS["vesting"]}
        kept = max(0, balance - int(rpc("eth_call", call, at), 16))
    if told["category"] == "locked":
        call = {"to": told["address"], "data": SELECTORS["locked"]}
        expect(f"whether {told['label']} is locked", int(rpc("eth_call", call, at), 16) > 0, True)
    expect(f"excluded of {told['label']}", told["excludedWei"], str(kept))
    excluded += kept

genesis = setting("genesis_wei")
total = genesis + earlier + paid - burned - dead
computed = {"total": total, "circulating": total - excluded, "max": genesis + earlier + ever}
expect("burned base fees", supply["components"]["burnedBaseFees"]["wei"], str(burned))
expect("rewards", supply["components"]["authorityIssuance"]["wei"], str(paid))
for name, wei in computed.items():
    expect(f"{name} in wei", supply["wei"][name], str(wei))
    expect(f"{name} in coins", supply[f"{name}Supply"], coins(wei))
    headers, text = get(f"/api/supply/{name}")
    # Eight decimals, cut off.
    whole, _, fraction = coins(wei // 10**10 * 10**10).partition(".")
    expect(f"{name} as text", text, whole if fraction == "0" else f"{whole}.{fraction}")
    expect(f"type of {name}", headers["content-type"], "text/plain; charset=utf-8")
print(json.dumps({"block": block, "excluded": len(supply["excluded"]), "burned": str(burned), **{name: str(wei) for name, wei in computed.items()}}))
