"""What schemathesis must know of the gateway to be more than a stranger: how calls are signed.

Wallets come in `WALLETS`, private keys divided by commas. A call of an operation with `x-service-action` is signed by one
of them, whatever it carries. One in eight is left as it was made: its envelope is noise, and the gateway must say so.
"""

import json
import os
import time
import zlib

import rfc8785
import schemathesis
from envelope import envelope
from eth_account import Account

WALLETS = [Account.from_key(key) for key in os.environ["WALLETS"].split(",")]
HEADERS = {"address": "X-Service-Address", "ts": "X-Service-Ts", "sig": "X-Service-Sig"}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """The schema of a stream is that of its whole text; schemathesis would take it for that of one event.

    With `IDS`, records are read by each of these ids.
    """
    ids = os.environ.get("IDS", "").split(",")
    for path in raw_schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", []):
                if ids != [""] and parameter.get("in") == "path" and parameter["name"] == "id":
                    parameter["examples"] = {one: {"value": int(one)} for one in ids}
            for response in operation["responses"].values():
                response.get("content", {}).get("text/event-stream", {}).pop("schema", None)


@schemathesis.hook
def before_call(context, case, kwargs):
    operation = context.operation.definition.raw
    action = operation.get("x-service-action")
    if action is None:
        return
    # The same call is always signed by the same wallet.
    seen = zlib.crc32(json.dumps([case.path_parameters, case.query, case.body], default=str, sort_keys=True).encode())
    if seen % 8 == 0:
        return
    account = WALLETS[seen // 8 % len(WALLETS)]
    if case.method == "GET":
        sign_read(case, operation, account, action)
    elif isinstance(case.body, dict):
        sign_write(case, account, action)


def sign_read(case, operation, account, action):
    signed = envelope(account, action, int(time.time()), {})
    if operation.get("security"):
        case.headers = {**(case.headers or {}), **{HEADERS[name]: str(value) for name, value in signed.items()}}
    else:
        case.query = {**(case.query or {}), **{name: str(value) for name, value in signed.items()}}


def sign_write(case, account, action):
    payload = {name: value for name, value in case.body.items() if name not in HEADERS}
    try:
        case.body = {**payload, **envelope(account, action, int(time.time()), payload)}
    except (rfc8785.CanonicalizationError, UnicodeEncodeError):
        # A payload without a canonical form cannot be signed.
        pass
