"""Checks credentials of agents with public libraries: the served JSON Schema with jsonschema and jsonschema_rs, and the signature with
eth-account, over typed data that are computed from the document alone.

    python public_verifiers.py < question.json

The question is that of `public_verifiers.mjs`, with `ownerSigned`. Prints what was checked, and fails when a library accepts what is wrong or
refuses what is right.
"""

import json
import sys

import jsonschema
import jsonschema_rs
import requests
import rfc8785
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_hash.auto import keccak

AGENT_CV = {
    "chainId": "uint256", "registry": "address", "agentId": "uint256", "subject": "address", "claimsRoot": "bytes32",
    "documentHash": "bytes32", "issuedAt": "uint64", "expiresAt": "uint64", "asOfBlock": "uint64", "asOfBlockHash": "bytes32", "uri": "string",
}


def hash_of(value, *left_out):
    return keccak(rfc8785.dumps({name: member for name, member in value.items() if name not in left_out}))


def root_of(leaves):
    if not leaves:
        return keccak(b"")
    while len(leaves) > 1:
        leaves = [keccak(leaves[at] + leaves[min(at + 1, len(leaves) - 1)]) for at in range(0, len(leaves), 2)]
    return leaves[0]


def account_of(did):
    return did.split("#")[0].split(":")[-1]


def typed_data(document):
    """What a signature of the document is over; nothing of it is taken from the proof."""
    subject = document["credentialSubject"]
    agent = subject["agent"]
    domain = {"name": "Service AI-CV", "version": "1", "chainId": agent["chainId"], "verifyingContract": agent["identityRegistry"]}
    types = {"AgentCV": [{"name": name, "type": kind} for name, kind in AGENT_CV.items()]}
    message = {
        "chainId": agent["chainId"], "registry": agent["agentRegistry"], "agentId": agent["agentId"], "subject": account_of(subject["id"]),
        "claimsRoot": root_of([hash_of(claim, "leaf") for claim in subject["record"]]),
        "documentHash": hash_of(document, "proof", "documentHash"), "issuedAt": document["issuedAt"], "expiresAt": document["expiresAt"],
        "asOfBlock": document["asOfBlock"], "asOfBlockHash": bytes.fromhex(document["evidence"][0]["asOfBlockHash"][2:]),
        "uri": document["id"],
    }
    return encode_typed_data(domain, types, message)


def signer_of(document):
    """The account that eth-account recovers; None when the signature has no form."""
    try:
        return Account.recover_message(typed_data(document), signature=document["proof"]["proofValue"])
    except Exception:  # whatever a forged document makes a library say
        return None


def main():
    question = json.load(sys.stdin)
    schema = requests.get(question["credentials"][0]["credentialSchema"]["id"], timeout=20).json()
    jsonschema.Draft202012Validator.check_schema(schema)
    validators = [jsonschema.Draft202012Validator(schema), jsonschema_rs.Draft202012Validator(schema)]
    owner_signed = question["ownerSigned"]
    owner = account_of(owner_signed["credentialSubject"]["id"])
    right = [(document, account_of(document["issuer"])) for document in question["credentials"]] + [(owner_signed, owner)]
    for document, signer in right:
        for validator in validators:
            errors = [f"{error.instance_path}: {error.message}" if validator is validators[1] else error.message
                      for error in validator.iter_errors(document)]
            assert not errors, errors
        assert signer_of(document) == signer, f"{document['id']}: signed by {signer_of(document)}, not by {signer}"
    for wrong in question["malformed"]:
        for validator in validators:
            assert not validator.is_valid(wrong["document"]), wrong["what"]
    for wrong in question["forged"]:
        assert signer_of(wrong["document"]) != account_of(wrong["document"]["issuer"]), wrong["what"]
    print(json.dumps({"valid": len(right), "malformed": len(question["malformed"]), "forged": len(question["forged"])}))


main()
