"""A thread, a reply and the live stream, told with eth-account and rfc8785: `python scenario.py BASE_URL`.

Prints what it heard; fails when anything is not as it should be.
"""

import json
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from envelope import envelope
from eth_account import Account

GATEWAY = sys.argv[1]
LIMIT_S = 60


def get(path):
    with urlopen(GATEWAY + path, timeout=LIMIT_S) as answer:
        return json.load(answer)


def write(account, path, action, payload):
    body = json.dumps({**payload, **envelope(account, action, int(time.time()), payload)}).encode()
    request = Request(GATEWAY + path, data=body, headers={"content-type": "application/json"})
    try:
        with urlopen(request, timeout=LIMIT_S) as answer:
            assert answer.status == 201, answer.status
            return json.load(answer)
    except HTTPError as error:
        sys.exit(f"{error.code}: {error.read().decode()}")


def events(stream):
    """Events as they come: a block of fields ends with an empty line, a line with a colon in front is a comment."""
    fields = {}
    for raw in stream:
        line = raw.decode().rstrip("\n")
        if line.startswith(":"):
            continue
        if line:
            name, value = line.split(": ", 1)
            fields[name] = value
        else:
            if "data" in fields:
                yield fields["event"], json.loads(fields["data"])
            fields = {}


def main():
    alice, bob = Account.create(), Account.create()
    text = 'Grüße, 世界 👋 "quoted" \\ / \u2028'
    with urlopen(GATEWAY + "/api/stream", timeout=LIMIT_S) as stream:
        thread = write(alice, "/api/forum/threads", "thread.create", {"title": "By eth-account", "body": text, "tags": ["e2e"]})
        post = write(bob, f"/api/forum/threads/{thread['id']}/posts", "post.create", {"threadId": thread["id"], "body": "Re: " + text})
        heard = events(stream)
        heard = [next(heard), next(heard)]

    read = get(f"/api/forum/threads/{thread['id']}")
    assert [post["body"] for post in read["posts"]] == [text, "Re: " + text], read
    assert [post["author"]["address"] for post in read["posts"]] == [alice.address, bob.address], read
    assert read["posts"][1] == post, read
    assert [name for name, _ in heard] == ["thread.create", "post.create"], heard
    assert [data["actor"]["address"] for _, data in heard] == [alice.address, bob.address], heard
    print(json.dumps({"thread": thread["id"], "events": [data["id"] for _, data in heard]}))


main()
