"""Talks to a free agent and a priced one with PyPI's `a2a-sdk` in its default settings, paid through the transport of PyPI's `x402`:
`python a2a_client.py BASE_URL PRIVATE_KEY PRICED_SLUG FREE_SLUG [SLUG_OF_JOB JOB_ID]`.

With the last two it also asks for the work of a job in escrow, which nobody pays for again. Prints what came back; fails when
anything is wrong. The file is not named a2a.py, because Python would import it in place of the package.
"""

import asyncio
import json
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_text_message
from a2a.types import GetTaskRequest, Role, SendMessageRequest
from a2a.types.a2a_pb2 import TaskState
from eth_account import Account
from google.protobuf.json_format import MessageToDict
from service_voucher import pay_with_vouchers
from x402 import x402Client
from x402.http.clients import x402_httpx_transport

LIMIT_S = 60
MAX_WEI = 10**18
CARDS = ["/.well-known/agent.json", "/.well-known/agent-card.json"]


def told(task):
    """A task as a test reads it: its state by name, and the data or text of its artifacts."""
    artifacts = [[MessageToDict(part) for part in artifact.parts] for artifact in task.artifacts]
    return {"id": task.id, "state": TaskState.Name(task.status.state), "artifacts": artifacts}


async def read_cards(gateway, slug):
    """Both names of the card tell the same, and a client is made of either."""
    async with httpx.AsyncClient() as http:
        cards = [await A2ACardResolver(http, f"{gateway}/a/{slug}", path).get_agent_card() for path in CARDS]
    for card in cards:
        await ClientFactory().create(card).close()
    assert cards[0] == cards[1], cards
    interfaces = [[shown.url, shown.protocol_binding, shown.protocol_version] for shown in cards[0].supported_interfaces]
    required = [name for requirement in cards[0].security_requirements for name in requirement.schemes]
    skills = [skill.id for skill in cards[0].skills]
    return {"name": cards[0].name, "version": cards[0].version, "interfaces": interfaces, "skills": skills, "scheme": required}


async def open_client(gateway, slug, http=None):
    """The SDK's defaults, and perhaps an HTTP client that pays."""
    config = ClientConfig(httpx_client=http) if http else None
    return await ClientFactory(config).create_from_url(f"{gateway}/a/{slug}")


async def ask(client, text, metadata=None):
    request = SendMessageRequest(message=new_text_message(text, role=Role.ROLE_USER), metadata=metadata)
    answers = [answer async for answer in client.send_message(request)]
    assert len(answers) == 1 and answers[0].HasField("task"), answers
    return told(answers[0].task)


async def failure(call):
    try:
        await call
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    raise AssertionError("it did not fail")


async def pay_for(gateway, account, slug, text):
    domain = httpx.get(f"{gateway}/api/x402/supported").raise_for_status().json()["domain"]
    statuses = []

    async def note(response):
        statuses.append([response.status_code, "PAYMENT-RESPONSE" in response.headers])

    paying = pay_with_vouchers(x402Client(), account, domain, MAX_WEI)
    transport = x402_httpx_transport(paying)
    async with httpx.AsyncClient(transport=transport, timeout=LIMIT_S, event_hooks={"response": [note]}) as http:
        task = await ask(await open_client(gateway, slug, http), text)
    assert task["state"] == "TASK_STATE_COMPLETED", task
    assert statuses == [[200, False], [200, True]], f"the card is free, the message was paid: {statuses}"
    return task


async def work_for_job(gateway, slug, job_id):
    """Work that was paid for on the chain: neither the message nor the question for the task costs anything."""
    async with await open_client(gateway, slug) as client:
        sent = await ask(client, "The job", {"jobId": int(job_id)})
        assert sent["id"] == f"job-{job_id}", sent
        read = told(await client.get_task(GetTaskRequest(id=sent["id"])))
    return {"sent": sent, "read": read}


async def main(gateway, private_key, priced, free, *job):
    account = Account.from_key(private_key)
    cards = {"priced": await read_cards(gateway, priced), "free": await read_cards(gateway, free)}
    async with await open_client(gateway, free) as client:
        task = await ask(client, "Hello")
        unknown = await failure(client.get_task(GetTaskRequest(id="nobody-has-it")))
    async with await open_client(gateway, priced) as client:
        unpaid = await failure(ask(client, "Hello"))
    assert task["state"] == "TASK_STATE_COMPLETED", task
    assert unknown.startswith("TaskNotFoundError") and "402" in unpaid, (unknown, unpaid)
    paid = await pay_for(gateway, account, priced, "Hello")
    work = await work_for_job(gateway, *job) if job else None
    shown = {"payer": account.address, "cards": cards, "free": task, "unknown": unknown, "unpaid": unpaid}
    print(json.dumps({**shown, "paid": paid, "job": work}))


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), LIMIT_S))
