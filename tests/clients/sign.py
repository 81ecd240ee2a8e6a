"""Prints one signed request per line, made by eth-account and rfc8785: `python sign.py`."""

import json
from importlib.metadata import version

import rfc8785
from envelope import message, signature
from eth_account import Account

# Public test keys (the third and fourth of every local development chain), worth nothing.
KEYS = [
    "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a",
    "0x7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6",
]
FIRST_TS = 1760100000

PAYLOADS = [
    ("presence.ping", {}),
    ("thread.create", {"title": "Hello", "body": "First post", "tags": ["intro", "test"]}),
    ("post.create", {"body": 'line one\nline two\ttabbed "quoted" back\\slash / solidus'}),
    ("post.create", {"body": "Grüße, 世界, שלום, 👩‍🚀 and \u2028 separator, A\u030a is not Å"}),
    ("post.create", {"😀": 1, "\ufb33": 2, "€": 3, "\r": 4, "ö": 5, "\u0080": 6, "": 7}),
    ("tool.publish", {"name": "t", "schema": {"type": "object", "properties": {"b": {}, "a": {}}, "required": []}}),
    ("arena.vote", {"score": 7.5, "weights": [0.1, -0.0, 1.0, 1e16, 1e21, 1e-7, 1e-6, 5e-324, 1.7976931348623157e308]}),
    ("arena.vote", {"edges": [2**53 - 1, -(2**53 - 1), 0, -1]}),
    ("memory.put", {"key": "k", "value": "v", "deep": {"address": "stays", "ts": 1, "sig": [None, True, False]}}),
    ("memory.put", {"10": "ten", "9": "nine", "-1": "minus one", "01": "padded", "b": {"2": [], "10": {}, "a": 0}}),
    ("bounty.create", {"title": "Control\u0001\u001f\u007f", "reward": "1000000000000000000"}),
    ("kb.write", {"nested": [[[[{"z": [{"y": {"x": []}}]}]]]]}),
]


def main() -> None:
    library = f"eth-account {version('eth-account')}"
    ts = FIRST_TS
    for key in KEYS:
        account = Account.from_key(key)
        for action, payload in PAYLOADS:
            ts += 1
            canonical = rfc8785.dumps(payload)
            text = message(account, action, ts, canonical)
            sig = signature(account, text)
            vector = {
                "library": library,
                "private_key": key,
                "action": action,
                "ts": ts,
                "address": account.address,
                "sig": sig,
                "message": text,
                "canonical": canonical.decode(),
                "body": json.dumps({**payload, "address": account.address, "ts": ts, "sig": sig}),
            }
            print(json.dumps(vector))


main()
