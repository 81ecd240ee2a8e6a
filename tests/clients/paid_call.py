"""Calls a priced agent and a free one with PyPI's `x402`, in both versions; then FastAPI's middleware of the same package serves as
a stranger whose facilitator is the gateway: `python paid_call.py BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG PAYEE`.

Prints the answers and payments; fails when a call does.
"""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import httpx
import uvicorn
from eth_account import Account
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from service_voucher import ASSET, NETWORK, ServiceVoucher, pay_with_vouchers
from x402 import x402Client, x402ResourceServer
from x402.http import FacilitatorConfig, HTTPFacilitatorClient, PaymentOption, RouteConfig, decode_payment_response_header
from x402.http.clients import x402_httpx_transport
from x402.http.middleware.fastapi import payment_middleware
from x402.payment_flow import AUTHORIZATION_PAYMENT_FLOW
from x402.schemas import AssetAmount

LIMIT_S = 60
MAX_WEI = 10**18
PRICE_WEI = 10**15
INPUT = {"text": "Grüße, 世界"}


class Counting(httpx.AsyncHTTPTransport):
    """The requests that really leave, below the client of x402."""

    requests = 0

    async def handle_async_request(self, request):
        self.requests += 1
        return await super().handle_async_request(request)


async def call(client, url, method="POST"):
    """The answer of a call, and how many requests it took. The payment is decoded by x402, which wants every member of its own."""
    transport = Counting()
    async with httpx.AsyncClient(transport=x402_httpx_transport(client, transport), timeout=LIMIT_S) as http:
        response = await http.request(method, url, json=INPUT if method == "POST" else None)
    header = response.headers.get("PAYMENT-RESPONSE")
    payment = decode_payment_response_header(header).model_dump(by_alias=True, exclude_none=True) if header else None
    return {"requests": transport.requests, "status": response.status_code, "answer": response.json(), "payment": payment}


async def refusal(account, domain, url):
    """What a client says that was not told of the asset."""
    client = pay_with_vouchers(x402Client(), account, domain, MAX_WEI).set_spend_controls({})
    try:
        await call(client, url)
    except Exception as error:
        assert "rejected by spend_controls" in str(error), error
        return str(error)
    raise AssertionError("it paid")


async def call_agents(gateway, client, priced, free):
    calls = []
    for version, query in [(1, ""), (2, "?x402Version=2")]:
        paid = await call(client, f"{gateway}/a/{priced}/invoke{query}")
        assert (paid["status"], paid["requests"]) == (200, 2), paid
        assert paid["payment"] and paid["payment"]["success"] is True, paid
        calls.append({"version": version, **paid})
    unpaid = await call(client, f"{gateway}/a/{free}/invoke")
    assert (unpaid["status"], unpaid["requests"], unpaid["payment"]) == (200, 1, None), unpaid
    return [*calls, {"version": None, **unpaid}]


class VoucherServer:
    """How a server of this package offers vouchers. Its prices are in wei."""

    scheme = ServiceVoucher.scheme
    default_asset_transfer_method = "default"
    payment_flows = {"default": AUTHORIZATION_PAYMENT_FLOW}

    def parse_price(self, price, network):
        return price

    def enhance_payment_requirements(self, requirements, supported_kind, extensions):
        return requirements.model_copy(update={"extra": {**(supported_kind.extra or {}), **requirements.extra}})


@asynccontextmanager
async def stranger(gateway, payee):
    app = FastAPI()
    price = AssetAmount(amount=str(PRICE_WEI), asset=ASSET)
    option = PaymentOption(ServiceVoucher.scheme, payee, price, NETWORK, max_timeout_seconds=300)
    routes = {"GET /report": RouteConfig(option), "GET /broken": RouteConfig(option)}
    facilitator = HTTPFacilitatorClient(FacilitatorConfig(url=f"{gateway}/api/x402"))
    server = x402ResourceServer(facilitator).register(NETWORK, VoucherServer())
    app.middleware("http")(payment_middleware(routes, server))
    app.get("/report")(lambda: {"report": "all is well"})
    app.get("/broken")(lambda: JSONResponse({"error": "not today"}, status_code=500))
    http = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    serving = asyncio.create_task(http.serve())
    while not http.started:
        assert not serving.done(), "the stranger did not start"
        await asyncio.sleep(0.01)
    yield f"http://127.0.0.1:{http.servers[0].sockets[0].getsockname()[1]}"
    http.should_exit = True
    await serving
    await facilitator.aclose()


async def pay_stranger(gateway, client, payee):
    """The stranger is paid for what it delivers, and not for what fails."""
    async with stranger(gateway, payee) as url:
        paid = await call(client, f"{url}/report", "GET")
        broken = await call(client, f"{url}/broken", "GET")
    assert (paid["status"], paid["requests"]) == (200, 2), paid
    assert paid["payment"] and paid["payment"]["success"] is True, paid
    assert (broken["status"], broken["payment"]) == (500, None), broken
    return {"paid": paid, "broken": broken}


async def main(gateway, private_key, priced, free, payee):
    account = Account.from_key(private_key)
    domain = httpx.get(f"{gateway}/api/x402/supported").raise_for_status().json()["domain"]
    client = pay_with_vouchers(x402Client(), account, domain, MAX_WEI)
    calls = await call_agents(gateway, client, priced, free)
    refused = await refusal(account, domain, f"{gateway}/a/{priced}/invoke")
    told = {"payer": account.address, "calls": calls, "refused": refused, "stranger": await pay_stranger(gateway, client, payee)}
    print(json.dumps(told))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), LIMIT_S))
