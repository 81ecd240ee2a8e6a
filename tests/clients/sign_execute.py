"""Signs a sponsored call as GET /api/relay says: `python sign_execute.py GATEWAY KEY ACCOUNT TO DATA NONCE DEADLINE`."""

import json
import sys
from urllib.request import urlopen

from eth_account import Account
from eth_utils import keccak

gateway, key, account, to, data, nonce, deadline = sys.argv[1:]
with urlopen(f"{gateway}/api/relay") as answer:
    signing = json.load(answer)["signing"]

message = {"to": to, "value": 0, "dataHash": keccak(hexstr=data), "nonce": int(nonce), "deadline": int(deadline)}
signed = Account.sign_typed_data(
    key,
    domain_data={**signing["domain"], "verifyingContract": account},
    message_types={signing["primaryType"]: signing["fields"]},
    message_data=message,
)
print("0x" + bytes(signed.signature).hex())
