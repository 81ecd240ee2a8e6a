"""Reads cards and pays a priced agent with PyPI's `agent0-sdk`: `python agent0_client.py BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG`.

The gateway has to name its network `eip155`: the SDK drops every offer of a network that is not an EVM chain's. How a payment is signed is
for its caller to say, here with a voucher. Prints what came back; fails when anything is wrong.

Only the files of the SDK's A2A and x402 clients are loaded: the rest of the package needs IPFS and a subgraph.
"""

import base64
import importlib.util
import json
import sys
import types
from pathlib import Path

import requests
from eth_account import Account
from service_voucher import ServiceVoucher

PACKAGE = Path(importlib.util.find_spec("agent0_sdk").submodule_search_locations[0])
for name, folder in [("agent0_sdk", PACKAGE), ("agent0_sdk.core", PACKAGE / "core")]:
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(folder)]

from agent0_sdk.core.a2a_client import resolve_a2a_from_endpoint_url, send_message  # noqa: E402
from agent0_sdk.core.x402_request import X402RequestDeps, request_with_x402  # noqa: E402
from agent0_sdk.core.x402_types import isX402Required  # noqa: E402

LIMIT_S = 60
MAX_WEI = 10**18


def fetch(url, method, headers, body, **_):
    return requests.request(method, url, headers=headers, data=body, timeout=LIMIT_S)


def call(gateway, slug, version, deps):
    url = f"{gateway}/a/{slug}/invoke?x402Version={version}"
    headers = {"Content-Type": "application/json"}
    return request_with_x402({"url": url, "method": "POST", "headers": headers, "body": '{"text": "hello"}'}, deps)


def vouchers(account, domain):
    """What signs for the SDK: an offer and the request become the value of a payment header."""

    def build(offer, request):
        terms = types.SimpleNamespace(
            extra=offer.extra,
            get_amount=lambda: offer.price,
            pay_to=offer.destination,
            max_timeout_seconds=offer.extra["maxTimeoutSeconds"],
            resource=request.resource.url if request.resource else request.url,
        )
        payload = ServiceVoucher(account, domain, MAX_WEI).create_payment_payload(terms)
        payment = {"x402Version": request.x402Version, "scheme": offer.scheme, "network": offer.network, "payload": payload}
        return base64.b64encode(json.dumps(payment).encode()).decode()

    return build


def failure(act):
    try:
        act()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("it did not fail")


def main(gateway, private_key, priced, free):
    account = Account.from_key(private_key)
    domain = requests.get(f"{gateway}/api/x402/supported", timeout=LIMIT_S).json()["domain"]
    deps = X402RequestDeps(fetch, vouchers(account, domain))
    cards = {slug: resolve_a2a_from_endpoint_url(f"{gateway}/a/{slug}") for slug in (priced, free)}
    paid = []
    for version in (1, 2):
        asked = call(gateway, priced, version, deps)
        assert isX402Required(asked) and asked.x402Payment.x402Version == version, asked
        answer = asked.x402Payment.pay()
        settlement = answer.pop("x402Settlement")
        assert settlement.success and settlement.payer == account.address, settlement
        paid.append({"version": version, "network": asked.x402Payment.network, "price": asked.x402Payment.price, "answer": answer})
    unpaid = call(gateway, free, 1, deps)
    for card in cards.values():
        del card["auth"]
    # It asks for REST whatever the card says.
    shown = cards[free]
    message = failure(lambda: send_message(shown["baseUrl"], shown["a2aVersion"], "hello", binding=shown["binding"]))
    print(json.dumps({"payer": account.address, "cards": cards, "paid": paid, "free": unpaid, "message": message}))


main(*sys.argv[1:])
