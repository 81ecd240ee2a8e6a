"""Checks an audit export (/api/agents/{id}/audit.jsonl) that is read from standard input, with public libraries alone.

    python audit.py SIGNER < audit.jsonl

SIGNER is `signer` of the gateway's /api/health. Prints what was checked as JSON (`missing` are the plugins whose lines are
not there, as the footer says), or the first thing that is wrong, and ends with 1.
"""

import json
import sys

import rfc8785
from eth_account import Account
from eth_account.messages import encode_defunct
from eth_hash.auto import keccak


class Wrong(Exception):
    pass


def unique(members):
    """An object, unless it has a member twice."""
    names = [name for name, _ in members]
    if len(names) != len(set(names)):
        raise Wrong(f"a member is there twice: {names}")
    return dict(members)


def parsed(text):
    value = json.loads(text, object_pairs_hook=unique)
    if not isinstance(value, dict):
        raise Wrong("a line is no object")
    return value, value.pop("sig", None)


def root_of(leaves):
    if not leaves:
        return keccak(b"")
    while len(leaves) > 1:
        pairs = [(leaves[at], leaves[min(at + 1, len(leaves) - 1)]) for at in range(0, len(leaves), 2)]
        leaves = [keccak(left + right) for left, right in pairs]
    return leaves[0]


def check_signature(what, members, signature, signer):
    if signature is None:
        raise Wrong(f"{what} is not signed")
    found = Account.recover_message(encode_defunct(rfc8785.dumps(members)), signature=signature)
    if found != signer:
        raise Wrong(f"{what} is signed by {found}, not by {signer}")


def place(line):
    return line["ts"], line.get("block", 0), line.get("logIndex", 0), line["kind"], line.get("activityId", 0)


def check(text, signer):
    if not text.endswith("\n"):
        raise Wrong("the last line does not end")
    *texts, last = text[:-1].split("\n")
    footer, footer_signature = parsed(last)
    lines = [parsed(line) for line in texts]
    root = "0x" + root_of([keccak(rfc8785.dumps(line)) for line, _ in lines]).hex()
    if root != footer["merkleRoot"]:
        raise Wrong(f"the root is {root}, and the footer says {footer['merkleRoot']}")
    if footer["signer"] != signer:
        raise Wrong(f"the footer names the signer {footer['signer']}, not {signer}")
    check_signature("the footer", footer, footer_signature, signer)
    if footer["leaves"] != len(lines):
        raise Wrong(f"there are {len(lines)} lines, and the footer counts {footer['leaves']}")
    for number, (line, signature) in enumerate(lines, 1):
        if (line["seq"], line["agentId"], line["signer"]) != (number, footer["agentId"], signer):
            raise Wrong(f"line {number} has another number, agent or signer")
        if footer["signedLines"]:
            check_signature(f"line {number}", line, signature, signer)
    places = [place(line) for line, _ in lines]
    if places != sorted(places):
        raise Wrong("the lines are not in order")
    missing, sources = footer.get("missing", []), footer.get("sources", [])
    for names in (missing, sources):
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise Wrong(f"{names} is no list of plugins")
    if set(missing) & set(sources):
        raise Wrong(f"plugins are there and missing: {sorted(set(missing) & set(sources))}")
    return {
        "lines": len(lines),
        "root": root,
        "kinds": sorted({line["kind"] for line, _ in lines}),
        "complete": not missing,
        "missing": missing,
    }


try:
    print(json.dumps(check(sys.stdin.buffer.read().decode(), sys.argv[1])))
except Exception as reason:  # whatever a forged file makes a library say
    print(f"{type(reason).__name__}: {reason}", file=sys.stderr)
    sys.exit(1)
