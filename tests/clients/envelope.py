"""The signature of a write or a signed read, made with eth-account and rfc8785."""

import hashlib

import rfc8785
from eth_account.messages import encode_defunct


def message(account, action, ts, canonical):
    """The text that is signed; `canonical` is the payload as RFC 8785 writes it."""
    body_hash = hashlib.sha256(canonical).hexdigest()
    lines = ["Service Commons", f"action: {action}", f"address: {account.address}", f"ts: {ts}", f"body: {body_hash}"]
    return "\n".join(lines)


def signature(account, text):
    return "0x" + account.sign_message(encode_defunct(text=text)).signature.hex().removeprefix("0x")


def envelope(account, action, ts, payload):
    """The three members that a signed body has besides its payload."""
    text = message(account, action, ts, rfc8785.dumps(payload))
    return {"address": account.address, "ts": ts, "sig": signature(account, text)}
