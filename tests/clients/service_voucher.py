"""Lets the public clients of x402 (PyPI's `x402`) pay for calls with vouchers, which the vault pays out of the payer's deposit."""

import secrets
import time

from eth_utils import is_same_address, keccak

NETWORK = "service:3961"
ASSET = "FMX"
# The gateway takes no voucher that expires within 90 seconds.
LIFETIME_MIN_S = 120
LIFETIME_MAX_S = 3600
TYPES = {
    "Voucher": [
        {"name": "payer", "type": "address"},
        {"name": "payee", "type": "address"},
        {"name": "amount", "type": "uint256"},
        {"name": "nonce", "type": "uint256"},
        {"name": "expiry", "type": "uint64"},
        {"name": "ref", "type": "bytes32"},
    ]
}


def pay_with_vouchers(client, account, domain, max_wei):
    """Makes an x402Client pay with vouchers, in both versions of x402.

    `account` is eth-account's and has a deposit in the vault; `domain` is that member of the answer to GET /api/x402/supported.
    The vault pays a voucher as signed, so none is signed over more than `max_wei`.
    """
    scheme = ServiceVoucher(account, domain, max_wei)
    client.register(NETWORK, scheme).register_v1(NETWORK, scheme)
    client.on_before_payment_creation(scheme.note_resource)
    # Without this entry the client refuses every asset but the stablecoins that it knows.
    client.set_spend_controls({"allowed_assets": [{"network": NETWORK, "asset": ASSET}]})
    return client


class ServiceVoucher:
    """The scheme. It is told what is paid for right before it signs, because version 2 says that beside the requirements."""

    scheme = "service-voucher"

    def __init__(self, account, domain, max_wei):
        self._account, self._domain, self._max_wei = account, domain, max_wei
        self._resource = None

    def note_resource(self, context):
        resource = getattr(context.payment_required, "resource", None)
        self._resource = resource.url if resource else None

    def create_payment_payload(self, requirements):
        vault = (requirements.extra or {}).get("vault", self._domain["verifyingContract"])
        if not is_same_address(vault, self._domain["verifyingContract"]):
            raise ValueError(f"{vault} is another vault")
        amount = int(requirements.get_amount())
        if amount > self._max_wei:
            raise ValueError(f"{amount} wei are more than the {self._max_wei} that may be paid at once")
        resource = getattr(requirements, "resource", None) or self._resource
        lifetime_s = min(max(requirements.max_timeout_seconds, LIFETIME_MIN_S), LIFETIME_MAX_S)
        voucher = {
            "payer": self._account.address,
            "payee": requirements.pay_to,
            "amount": amount,
            "nonce": secrets.randbits(256),
            "expiry": int(time.time()) + lifetime_s,
            "ref": keccak(text=resource) if resource else bytes(32),
        }
        signed = self._account.sign_typed_data(self._domain, TYPES, voucher)
        texts = {name: str(value) for name, value in voucher.items() if name != "ref"}
        return {"voucher": {**texts, "ref": "0x" + voucher["ref"].hex()}, "signature": "0x" + signed.signature.hex().removeprefix("0x")}
