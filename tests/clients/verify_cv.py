"""Checks credentials of agents (/api/cv/{agent}/credential.json) that are read from standard input, with public libraries alone.

    python verify_cv.py CONTRACTS.json RPC_URL ISSUER [--lines] [--now UNIX] < credential.json

Written from the specification alone: it shares nothing with `gateway verify cv`, which must agree with it. CONTRACTS.json has `chainId` and an
address for each key of a contract; ISSUER is an address that is trusted beside the agent's owner. Prints {verdict, reasons} for the document,
or with --lines for each line, and ends as `gateway verify cv` does: 0 valid, 1 forged, 2 stale or superseded, 3 not checkable.
"""

import argparse
import json
import sys
from datetime import datetime
from functools import lru_cache

import eth_abi
import requests
import rfc8785
from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_typed_data
from eth_hash.auto import keccak
from eth_utils import to_checksum_address

VALID, FORGED, OUTDATED, UNKNOWN = range(4)
NAMES = ["valid", "forged", "outdated", "notCheckable"]
HALF_ORDER = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
AGENT_CV = [
    ("chainId", "uint256"), ("registry", "address"), ("agentId", "uint256"), ("subject", "address"), ("claimsRoot", "bytes32"),
    ("documentHash", "bytes32"), ("issuedAt", "uint64"), ("expiresAt", "uint64"), ("asOfBlock", "uint64"), ("asOfBlockHash", "bytes32"),
    ("uri", "string"),
]
AGENT = "address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32"
JOB = "uint256,address,uint256,bytes32,bytes32,string,string,uint64,uint64,uint8"
AGENT_STATUS = ["None", "Active", "Paused", "Retired"]
JOB_STATUS = ["None", "Open", "Delivered", "Completed", "Refunded", "Disputed", "Resolved"]
CITED = {
    "agentRegistry": "registry", "serviceEscrow": "escrow", "x402Vault": "x402Vault", "streamPay": "streamPay",
    "arbiterPool": "arbiterPool", "identityRegistry": "identity8004", "reputationRegistry": "reputation8004",
    "validationRegistry": "validation8004", "tokenFactory": "tokenFactory", "memoryAnchor": "memoryAnchor",
    "endorsements": "endorsements",
}
ASSERTED = {"Referral", "Contribution", "Reliability", "Capability", "Registration", "EscrowJob"}

# Kind: contract, event, argument = member. `!` is the agent's id, `@` its owner; `?` behind a member: null counts as 0.
EVENTS = [
    ("Registration", "registry", "AgentRegistered(uint256 indexed id,address indexed owner,string name,string endpoint,string metadataURI,uint256 pricePerJob,uint256 bond)",
     "id=! id=agentId owner=owner name=name endpoint=endpointAtRegistration metadataURI=metadataURIAtRegistration pricePerJob=pricePerJobWeiAtRegistration bond=bondWeiAtRegistration"),
    ("EscrowJob", "escrow", "JobCompleted(uint256 indexed jobId,uint256 agentPayout,uint256 fee,uint8 rating)",
     "jobId=jobId agentPayout=payoutWei fee=feeWei rating=rating?"),
    ("EscrowJob", "escrow", "JobResolved(uint256 indexed jobId,uint256 clientAmount,uint256 agentPayout,uint256 fee)",
     "jobId=jobId agentPayout=payoutWei fee=feeWei"),
    ("EscrowJob", "escrow", "JobRefunded(uint256 indexed jobId,uint256 amount,bool byAgent)", "jobId=jobId"),
    ("EscrowJob", "escrow", "JobRequested(uint256 indexed jobId,uint256 indexed agentId,address indexed client,uint256 amount,bytes32 inputHash,string inputURI)",
     "jobId=jobId agentId=! client=client amount=amountWei inputHash=inputHash?"),
    ("EscrowJob", "escrow", "JobDelivered(uint256 indexed jobId,bytes32 outputHash,string outputURI)", "jobId=jobId outputHash=outputHash?"),
    ("X402Receipt", "x402Vault", "Settled(address indexed payer,address indexed payee,uint256 amount,uint256 fee,uint256 nonce,bytes32 ref)",
     "payee=@ payer=payer payee=payee amount=amountWei fee=feeWei nonce=nonce"),
    ("X402Payment", "x402Vault", "Settled(address indexed payer,address indexed payee,uint256 amount,uint256 fee,uint256 nonce,bytes32 ref)",
     "payer=@ payer=payer payee=payee amount=amountWei fee=feeWei nonce=nonce"),
    ("Stream", "streamPay", "StreamOpened(uint256 indexed id,address indexed payer,address indexed payee,uint256 ratePerSec,uint256 deposit,uint64 start,uint64 stop)",
     "payee=@ id=streamId payer=payer payee=payee ratePerSec=ratePerSecWei deposit=depositWei start=start stop=stop"),
    ("StreamPayment", "streamPay", "StreamOpened(uint256 indexed id,address indexed payer,address indexed payee,uint256 ratePerSec,uint256 deposit,uint64 start,uint64 stop)",
     "payer=@ id=streamId payer=payer payee=payee ratePerSec=ratePerSecWei deposit=depositWei start=start stop=stop"),
    ("SubscriptionPlan", "streamPay", "PlanCreated(uint256 indexed planId,address indexed payee,uint256 pricePerPeriod,uint64 period,string metadataURI)",
     "planId=planId payee=@ payee=payee pricePerPeriod=pricePerPeriodWei period=periodSeconds metadataURI=metadataURI"),
    ("Feedback", "reputation8004", "NewFeedback(uint256 indexed agentId,address indexed clientAddress,uint64 feedbackIndex,int128 value,uint8 valueDecimals,string indexed indexedTag1,string tag1,string tag2,string endpoint,string feedbackURI,bytes32 feedbackHash)",
     "agentId=! clientAddress=client value=value valueDecimals=valueDecimals tag1=tag1 tag2=tag2 feedbackURI=feedbackURI"),
    ("Validation", "validation8004", "ValidationResponse(address indexed validatorAddress,uint256 indexed agentId,bytes32 indexed requestHash,uint8 response,string responseURI,bytes32 responseHash,string tag)",
     "agentId=! requestHash=requestHash validatorAddress=validator response=response tag=tag responseURI=responseURI"),
    ("Validation", "validation8004", "ValidationRequest(address indexed validatorAddress,uint256 indexed agentId,string requestURI,bytes32 indexed requestHash)",
     "agentId=! requestHash=requestHash validatorAddress=validator requestURI=requestURI"),
    ("Dispute", "arbiterPool", "CaseClosed(uint256 indexed caseId,uint256 indexed jobId,uint16 clientBps)", "caseId=caseId jobId=jobId clientBps=clientBps"),
    ("Dispute", "arbiterPool", "CaseOpened(uint256 indexed caseId,uint256 indexed jobId,address indexed opener,string evidenceURI)",
     "caseId=caseId jobId=jobId opener=opener evidenceURI=evidenceURI"),
    ("Endorsement", "endorsements", "Endorsed(uint256 indexed id,uint256 indexed fromAgentId,uint256 indexed toAgentId,bytes32 capabilityId,string capability,uint8 basis,uint32 weight,uint64 evidenceJobId,uint256 evidenceAmountWei,string uri)",
     "toAgentId=! id=endorsementId fromAgentId=fromAgentId capability=capability weight=weight evidenceJobId=evidenceJobId? evidenceAmountWei=evidenceAmountWei uri=uri"),
    ("MemoryAnchor", "memoryAnchor", "MemoryAnchored(uint256 indexed agentId,uint64 indexed seq,bytes32 indexed root,bytes32 prevRoot,uint32 count,uint64 totalRecords,address anchoredBy,string uri)",
     "agentId=! seq=anchorSeq root=root prevRoot=prevRoot count=count totalRecords=totalRecords uri=uri"),
    ("TokenLaunch", "tokenFactory", "Launched(uint256 indexed agentId,address indexed token,string symbol)", "agentId=! token=token symbol=symbol"),
]
PROVES = {  # the outcomes of a job
    "JobCompleted": ["Completed"], "JobResolved": ["Resolved"], "JobRefunded": ["Refunded"], "JobRequested": ["Open", "Delivered", "Disputed"],
}


class Event:
    def __init__(self, declaration):
        self.name, rest = declaration[:-1].split("(")
        self.inputs = [(part.split()[0], "indexed" in part.split(), part.split()[-1]) for part in rest.split(",")]
        self.text = f"{self.name}({','.join(kind for kind, _, _ in self.inputs)})"
        self.topic = "0x" + keccak(self.text.encode()).hex()

    def decode(self, log):
        topics = [bytes.fromhex(topic[2:]) for topic in log["topics"]]
        indexed = [(kind, name) for kind, is_indexed, name in self.inputs if is_indexed]
        plain = [(kind, name) for kind, is_indexed, name in self.inputs if not is_indexed]
        if len(topics) != len(indexed) + 1 or "0x" + topics[0].hex() != self.topic:
            raise Forged(f"the log is no {self.text}")
        found = {name: eth_abi.decode([kind], topic)[0] for (kind, name), topic in zip(indexed, topics[1:]) if kind != "string"}
        try:
            values = eth_abi.decode([kind for kind, _ in plain], bytes.fromhex(log["data"][2:]))
        except eth_abi.exceptions.DecodingError as error:
            raise Forged(f"the log is no {self.text}: {error}")
        return found | {name: value for (_, name), value in zip(plain, values)}


class Forged(Exception):
    outcome = FORGED


class Outdated(Exception):
    outcome = OUTDATED


class Unknown(Exception):
    outcome = UNKNOWN


def same(found, stated, null_is_zero=False):
    """Whether a decoded value is the stated one; an integer is a JSON number or a decimal text."""
    if stated is None:
        return null_is_zero and (found == 0 or isinstance(found, bytes) and not any(found))
    if isinstance(found, bool) or isinstance(stated, bool):
        return found is stated
    if isinstance(found, int):
        return str(found) == stated if isinstance(stated, str) else isinstance(stated, int) and stated == found
    if isinstance(found, bytes):
        return isinstance(stated, str) and stated.lower() == "0x" + found.hex()
    if isinstance(found, str) and found.startswith("0x") and len(found) == 42:
        return isinstance(stated, str) and stated.lower() == found.lower()
    if isinstance(found, str):
        # Documents have U+FFFD where the chain has NUL, which databases do not keep.
        found = found.replace("\0", "\ufffd")
    return found == stated


class Chain:
    def __init__(self, url):
        self.url, self.session = url, requests.Session()

    @lru_cache(maxsize=None)
    def ask(self, method, params):
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": json.loads(params)}
        answer = self.session.post(self.url, json=request, timeout=20).json()
        return answer.get("result"), answer.get("error")

    def get(self, method, *params):
        result, error = self.ask(method, json.dumps(params))
        if error:
            raise Unknown(f"{method}: {error.get('message')}")
        return result

    def call(self, to, function, types, values, returns, block):
        data = "0x" + (keccak(function.encode())[:4] + eth_abi.encode(types, values)).hex()
        answer = bytes.fromhex(self.get("eth_call", {"to": to, "data": data}, hex(block))[2:])
        try:
            return eth_abi.decode([returns], answer)[0]
        except Exception as error:
            raise Unknown(f"{function} is not understood: {error}")


def unique(members):
    names = [name for name, _ in members]
    if len(names) != len(set(names)):
        raise Unknown("a member is there twice")
    return dict(members)


def whole(value):
    """An integer as JSON writes it; not a boolean, which Python takes for one."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**53:
        raise Forged(f"{value!r} is no integer")
    return value


def jcs_hash(members, *left_out):
    return keccak(rfc8785.dumps({name: value for name, value in members.items() if name not in left_out}))


def fold(leaves):
    if not leaves:
        return keccak(b"")
    while len(leaves) > 1:
        leaves = [keccak(leaves[at] + leaves[min(at + 1, len(leaves) - 1)]) for at in range(0, len(leaves), 2)]
    return leaves[0]


def account(did, chain_id):
    prefix = f"did:pkh:eip155:{chain_id}:"
    if not isinstance(did, str) or not did.startswith(prefix) or to_checksum_address(did[len(prefix):]) != did[len(prefix):]:
        raise Forged(f"{did!r} is no account of the chain {chain_id}")
    return did[len(prefix):]


class Credential:
    def __init__(self, text, pins, chain, issuers, now):
        self.pins, self.chain, self.issuers, self.now = pins, chain, issuers, now
        self.document = json.loads(text, object_pairs_hook=unique)
        self.chain_id = pins.get("chainId", 3961)
        self.found = []

    def check(self):
        steps = [self.shape, self.document_hash, self.claims_root, self.signature]
        for step in steps:
            self.attempt(step)
        if not any(outcome == FORGED for outcome, _ in self.found):
            for step in [self.on_chain, self.claims, self.aggregate, self.state, self.supersession, self.completeness]:
                self.attempt(step)
        return self.found

    def attempt(self, step, *arguments):
        try:
            step(*arguments)
        except (Forged, Outdated, Unknown) as reason:
            self.found.append((reason.outcome, f"{step.__name__}: {reason}"))
        except requests.RequestException as reason:
            self.found.append((UNKNOWN, f"{step.__name__}: {reason}"))
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as reason:  # a member of another form
            self.found.append((FORGED, f"{step.__name__}: {type(reason).__name__}: {reason}"))

    # 1
    def shape(self):
        document = self.document
        self.subject = document["credentialSubject"]
        self.record, self.meta, self.summary = self.subject["record"], self.subject["recordMeta"], self.subject["summary"]
        self.agent = whole(self.subject["agent"]["agentId"])
        self.owner = account(self.subject["id"], self.chain_id)
        self.block = whole(document["asOfBlock"])
        if document["@context"][0] != "https://www.w3.org/ns/credentials/v2":
            raise Forged("the first context is another")
        if not {"VerifiableCredential", "ServiceAgentCV"} <= set(document["type"]):
            raise Forged("it is no ServiceAgentCV")
        for text, unix in [("validFrom", "issuedAt"), ("validUntil", "expiresAt")]:
            if int(datetime.fromisoformat(document[text]).timestamp()) != whole(document[unix]):
                raise Forged(f"{text} is not {unix}")
        ids = [claim["id"] for claim in self.record]
        if len(ids) != len(set(ids)) or any(name.split(":")[1] != str(self.agent) for name in ids):
            raise Forged("ids of claims")
        for claim in self.record:
            trust = claim["evidence"]["trust"]
            if trust not in ("chain", "gateway", "selfAttested") or (trust == "chain") is not claim["evidence"]["proven"]:
                raise Forged(f"{claim['id']}: trust")
            if claim["type"] not in {kind for kind, _, _, _ in EVENTS} | {"AgentState", "Slash"} | ASSERTED:
                raise Forged(f"{claim['id']}: kind")
        if self.now >= document["expiresAt"]:
            raise Outdated("it has expired")
        if self.now < document["issuedAt"]:
            raise Unknown("it is not valid yet")

    # 2
    def document_hash(self):
        self.hash = "0x" + jcs_hash(self.document, "proof", "documentHash").hex()
        if self.document["documentHash"] != self.hash:
            raise Forged(f"the document has the hash {self.hash}")

    # 3
    def claims_root(self):
        leaves = [jcs_hash(claim, "leaf") for claim in self.record]
        for claim, leaf in zip(self.record, leaves):
            if claim["leaf"] != "0x" + leaf.hex():
                raise Forged(f"{claim['id']}: leaf")
        self.root = "0x" + fold(leaves).hex()
        if self.document["claimsRoot"] != self.root:
            raise Forged(f"the claims have the root {self.root}")

    # 4
    def signature(self):
        document = self.document
        proof = document.get("proof")
        if isinstance(proof, list):
            (proof,) = proof
        if not proof:
            raise Unknown("it is not signed")
        registry = self.pins["registry"]
        own = {
            "domain": {
                "name": "Service AI-CV", "version": "1", "chainId": self.chain_id,
                "verifyingContract": to_checksum_address(self.pins.get("identity8004") or registry),
            },
            "primaryType": "AgentCV",
            "types": {"AgentCV": [{"name": name, "type": kind} for name, kind in AGENT_CV]},
            "message": {
                "chainId": self.chain_id, "registry": to_checksum_address(registry), "agentId": self.agent, "subject": self.owner,
                "claimsRoot": self.root, "documentHash": self.hash, "issuedAt": document["issuedAt"],
                "expiresAt": document["expiresAt"], "asOfBlock": self.block,
                "asOfBlockHash": document["evidence"][0].get("asOfBlockHash") or "0x" + "00" * 32, "uri": document["id"],
            },
        }
        if proof["eip712"] != own:
            raise Forged("eip712 is not what a signature of this document is over")
        signable = encode_typed_data(own["domain"], own["types"], own["message"])
        if proof["digest"] != "0x" + _hash_eip191_message(signable).hex():
            raise Forged("digest")
        value = proof["proofValue"]
        if value is None:
            raise Unknown("nobody has signed it yet")
        if len(value) != 132 or value != value.lower() or not value.startswith("0x") or int(value[66:130], 16) > HALF_ORDER:
            raise Forged("the form of the signature")
        try:
            self.signer = Account.recover_message(signable, signature=value)
        except Exception as error:
            raise Forged(f"the signature: {error}")
        if proof["verificationMethod"] != f"did:pkh:eip155:{self.chain_id}:{self.signer}#blockchainAccountId":
            raise Forged(f"it is signed by {self.signer}")
        if proof["type"] not in ("ServiceAgentCVEip712Proof2025", "DataIntegrityProof") or proof["proofPurpose"] != "assertionMethod":
            raise Forged("the type of the proof")
        if proof["cryptosuite"] != "eip712-jcs-2026" or proof["created"] != document["validFrom"]:
            raise Forged("the members of the proof")
        if self.signer in self.issuers:
            if account(document["issuer"], self.chain_id) != self.signer:
                raise Forged("issuer")
        elif self.signer != self.owner:  # the owner is compared with the registry's below
            raise Forged(f"{self.signer} is neither an issuer that is known nor the owner")

    def agent_at(self, block):
        returned = self.chain.call(self.pins["registry"], "getAgent(uint256)", ["uint256"], [self.agent], f"({AGENT})", block)
        names = "owner name endpoint metadataURI pricePerJob bond registeredAt retiredAt status jobsCompleted jobsFailed ratingCount ratingSum"
        agent = dict(zip(names.split(), returned))
        return agent | {"status": AGENT_STATUS[agent["status"]]}

    # 5 and 6
    def on_chain(self):
        self.read = None
        if int(self.chain.get("eth_chainId"), 16) != self.chain_id:
            raise Unknown("the server is one of another chain")
        self.head = int(self.chain.get("eth_blockNumber"), 16)
        block = self.chain.get("eth_getBlockByNumber", hex(self.block), False)
        if not block:
            raise Unknown("the server has not that block")
        anchor = self.document["evidence"][0]
        self.is_then = True
        self.live = self.agent_at(self.head)
        try:
            self.read = self.agent_at(self.block)
        except Unknown:
            self.read, self.is_then = self.live, False
        self.read_block = self.block if self.is_then else self.head
        if anchor["asOfBlockHash"] not in (None, block["hash"]):
            raise Outdated("the chain was reorganised")
        for key in anchor["contracts"]:
            if key != "treasury":
                self.pin(CITED[key], anchor["contracts"][key])
        agent = self.subject["agent"]
        status = self.document["credentialStatus"]
        self.pin("registry", agent["agentRegistry"])
        self.pin("registry", self.summary["verify"]["address"])
        self.pin("identity8004", agent["identityRegistry"])
        if status:
            self.pin("identity8004", status["identityRegistry"])
        chains = [anchor["chainId"], agent["chainId"]] + ([status["chainId"]] if status else [])
        if any(chain != self.chain_id for chain in chains):
            raise Forged("another chain")

    def pin(self, key, address):
        if address is None:
            return
        if not self.pins.get(key):
            raise Unknown(f"no contract {key} is pinned")
        if address.lower() != self.pins[key].lower():
            raise Forged(f"{address} is not the contract {key}")

    # 7
    def claims(self):
        self.used, self.proven, self.jobs = set(), set(), {"completed": 0, "failed": 0}
        for claim in self.record:
            before = len(self.found)
            self.attempt(self.claim, claim)
            if len(self.found) == before and claim["evidence"]["trust"] == "chain":
                self.proven.add(claim["id"])

    def claim(self, claim):
        evidence = claim["evidence"]
        if evidence.get("address"):
            self.pin(evidence["contract"], evidence["address"])
        if claim["type"] == "AgentState":
            return
        if evidence["trust"] != "chain":
            self.count(claim, None)
            if claim["type"] not in ASSERTED:
                raise Forged(f"{claim['id']} needs a log")
            return
        event, arguments, log, receipt, time = self.log(claim, evidence)
        if (claim["type"], log["tx"], log["index"]) in self.used:
            raise Forged(f"{claim['id']}: its log proves another claim")
        self.used.add((claim["type"], log["tx"], log["index"]))
        self.count(claim, self.succeeded(receipt, log["index"]))
        for also in claim.get("alsoEvidence") or []:
            other = self.log(claim, also)[0]
            if claim["type"] != "EscrowJob" or other.name not in ("JobRequested", "JobDelivered") or other.name == event.name:
                raise Forged(f"{claim['id']}: alsoEvidence")
        if claim["type"] in ("EscrowJob", "Dispute"):
            self.job(claim, event, time)
        for bind in evidence.get("bind") or []:
            if "log" in bind:
                self.equal(claim, arguments[bind["log"]], bind["equals"])
            else:
                self.pin("escrow", bind["call"]["address"])
        if claim["type"] == "Registration" and {"endpoint", "status", "pricePerJobWei", "bondWei", "metadataURI"} & claim.keys():
            raise Forged("a registration with a state")
        if claim["type"] == "Validation" and claim["selfAttested"] is not (arguments["validatorAddress"].lower() == self.owner.lower()):
            raise Forged("selfAttested")
        if event.name == "ValidationRequest" and claim["response"] is not None:
            raise Forged("a request is no response")

    def resolve(self, claim, reference):
        if reference in ("!", "subject.agentId"):
            return self.agent, False
        if reference in ("@", "subject.address"):
            return self.owner, False
        name = reference.removeprefix("claim.")
        bare = name.removesuffix("|0").removesuffix("?")
        return claim.get(bare), bare != name

    def equal(self, claim, found, reference):
        stated, null_is_zero = self.resolve(claim, reference)
        if not same(found, stated, null_is_zero):
            raise Forged(f"{claim['id']}: {reference} is {stated!r}, and the log says {found!r}")

    def log(self, claim, evidence):
        rules = [(key, Event(text), facts) for kind, key, text, facts in EVENTS if kind == claim["type"]]
        rules = [rule for rule in rules if rule[1].text == evidence["event"]]
        if not rules:
            raise Forged(f"{claim['id']}: {evidence['event']} proves nothing of this kind")
        ((key, event, facts),) = rules
        is_main = evidence is claim["evidence"]
        if is_main and claim["type"] == "EscrowJob" and claim["outcome"] not in PROVES.get(event.name, []):
            raise Forged(f"{claim['id']}: {event.name} does not prove {claim['outcome']}")
        if evidence["topic0"] != event.topic or evidence["contract"] != key or evidence["chainId"] != self.chain_id:
            raise Forged(f"{claim['id']}: topic0, contract or chain of its evidence")
        self.pin(key, evidence["address"])
        receipt = self.chain.get("eth_getTransactionReceipt", evidence["tx"])
        if not receipt:
            block = self.chain.get("eth_getBlockByNumber", hex(evidence["block"]), False)
            if block and evidence["tx"] not in block["transactions"]:
                raise Forged(f"{claim['id']}: there is no such transaction")
            raise Unknown(f"{claim['id']}: no receipt")
        number = int(receipt["blockNumber"], 16)
        if int(receipt["status"], 16) != 1 or number > self.block or evidence["block"] not in (None, number):
            raise Forged(f"{claim['id']}: its transaction is another")
        time = int(self.chain.get("eth_getBlockByNumber", hex(number), False)["timestamp"], 16)
        if evidence["ts"] != time:
            raise Forged(f"{claim['id']}: ts")
        logs = [log for log in receipt["logs"] if int(log["logIndex"], 16) == whole(evidence["blockLogIndex"])]
        if not logs or logs[0]["address"].lower() != self.pins[key].lower():
            raise Forged(f"{claim['id']}: no such log")
        arguments = event.decode(logs[0])
        for fact in facts.split():
            argument, reference = fact.split("=")
            self.equal(claim, arguments[argument], reference)
        place = {"tx": evidence["tx"], "index": evidence["blockLogIndex"]}
        return event, arguments, place, receipt, time

    def succeeded(self, receipt, index):
        """What the registry recorded next for this agent."""
        event = Event("OutcomeRecorded(uint256 indexed id,bool success,uint8 rating)")
        for log in sorted(receipt["logs"], key=lambda log: int(log["logIndex"], 16)):
            is_of_registry = log["address"].lower() == self.pins["registry"].lower()
            if is_of_registry and int(log["logIndex"], 16) > index and log["topics"][0] == event.topic:
                recorded = event.decode(log)
                if recorded["id"] == self.agent:
                    return recorded["success"]
        return None

    def count(self, claim, success):
        if claim["type"] == "EscrowJob":
            outcome = claim["outcome"]
            self.jobs["completed"] += outcome == "Completed" or outcome == "Resolved" and success is True
            self.jobs["failed"] += outcome == "Refunded" or outcome == "Resolved" and success is False

    def job(self, claim, event, time):
        returned = self.chain.call(self.pins["escrow"], "getJob(uint256)", ["uint256"], [claim["jobId"]], f"({JOB})", self.read_block)
        agent, client, amount, input_hash, output_hash, _, _, created, delivered, status = returned
        if agent != self.agent:
            raise Forged(f"{claim['id']}: the job is of another agent")
        if claim["type"] == "Dispute":
            return
        outcome = claim["outcome"]
        if JOB_STATUS[status] != outcome:
            moved = not self.is_then and outcome in ("Open", "Delivered", "Disputed")
            raise (Outdated if moved else Forged)(f"{claim['id']}: the outcome is {JOB_STATUS[status]}")
        facts = [("client", client), ("amountWei", amount), ("inputHash", input_hash), ("outputHash", output_hash),
                 ("requestedAt", created), ("deliveredAt", delivered)]
        for name, found in facts:
            if not same(found, claim.get(name), True):
                raise Forged(f"{claim['id']}: {name} is {claim.get(name)!r}, and the escrow says {found!r}")
        if event.name != "JobRequested" and claim.get("settledAt") not in (None, time):
            raise Forged(f"{claim['id']}: settledAt")
        if claim["rating"] is not None and (event.name != "JobCompleted" or not 1 <= claim["rating"] <= 5):
            raise Forged(f"{claim['id']}: rating")

    def omits(self, kind):
        return any(entry["type"] == kind for entry in self.meta["omitted"])

    def aggregate(self):
        registry, summary = self.read, self.summary
        for name in ("jobsCompleted", "ratingCount", "ratingSum"):
            if whole(summary[name]) > registry[name]:
                raise Forged(f"{name} is {summary[name]}, and the registry counts {registry[name]}")
        if self.jobs["completed"] > registry["jobsCompleted"]:
            raise Forged(f"{self.jobs['completed']} claims of completed jobs, and the registry counts {registry['jobsCompleted']}")
        proven = [claim for claim in self.record if claim["id"] in self.proven]
        paid = [claim for claim in proven if claim["type"] == "EscrowJob" and claim["outcome"] in ("Completed", "Resolved")]
        receipts = [claim for claim in proven if claim["type"] == "X402Receipt"]
        payments = [claim for claim in proven if claim["type"] == "X402Payment"]
        total = lambda claims, name: sum(int(claim[name]) for claim in claims)  # noqa: E731
        sums = [
            ("escrowEarnedWei", "EscrowJob", total(paid, "payoutWei")), ("escrowFeesWei", "EscrowJob", total(paid, "feeWei")),
            ("x402GrossWei", "X402Receipt", total(receipts, "amountWei")), ("x402FeesWei", "X402Receipt", total(receipts, "feeWei")),
            ("x402EarnedWei", "X402Receipt", total(receipts, "amountWei") - total(receipts, "feeWei")),
            ("x402SpentWei", "X402Payment", total(payments, "amountWei")),
        ]
        for name, kind, proven_sum in sums:
            if summary[name] is not None and int(summary[name]) > proven_sum and not self.omits(kind):
                raise Forged(f"{name} is {summary[name]}, and the claims prove {proven_sum}")
        with_money = [claim for claim in paid if int(claim["amountWei"]) > 0]
        arms_length = summary["armsLength"]
        if not self.omits("EscrowJob") and (
            arms_length["paidJobsCompleted"] > len(with_money) or summary["jobsSettled"] > len(paid)
            or arms_length["distinctPayers"] > len({claim["client"] for claim in with_money})
        ):
            raise Forged("the summary tells of more jobs than the record")
        if whole(summary["jobsFailed"]) < registry["jobsFailed"]:
            raise (Forged if self.is_then else Outdated)(f"jobsFailed is {summary['jobsFailed']}, not {registry['jobsFailed']}")

    # 8
    def state(self):
        states = [claim for claim in self.record if claim["type"] == "AgentState"]
        if len(states) != 1:
            raise (Forged if states else Unknown)(f"{len(states)} claims of the state")
        (state,) = states
        evidence = state["evidence"]
        if (evidence["trust"], evidence["contract"], evidence["call"]) != ("chain", "registry", f"getAgent({self.agent})"):
            raise Forged("the evidence of the state")
        names = {"owner": "owner", "endpoint": "endpoint", "metadataURI": "metadataURI", "pricePerJobWei": "pricePerJob",
                 "bondWei": "bond", "status": "status"}
        stated = [(names[name], state[name]) for name in names] + [("owner", self.owner), ("name", self.subject["name"])]
        stated += [("bond", self.summary["bondWei"]), ("pricePerJob", self.summary["pricePerJobWei"])]
        stated += [(name, self.subject["agent"][name]) for name in ("endpoint", "status", "registeredAt")]
        for name, value in stated:
            if self.is_then and not same(self.read[name], value):
                raise Forged(f"{name} is {value!r}, and the registry said {self.read[name]!r}")
        for name, value in stated:
            if not same(self.live[name], value):
                raise Outdated(f"{name} is {value!r}, and the registry says {self.live[name]!r}")

    # 10
    def supersession(self):
        identity = self.pins.get("identity8004")
        if not identity:
            return
        value = self.chain.call(identity, "getMetadata(uint256,string)", ["uint256", "string"], [self.agent, "cv"], "bytes", self.head)
        if value and "0x" + eth_abi.decode(["bytes32", "string"], value)[0].hex() != self.hash:
            raise Outdated("the owner anchored another document")

    # 9 is a choice of the reader; 11
    def completeness(self):
        meta = self.meta
        if meta["count"] != len(self.record) or meta["complete"] is not (meta["omitted"] == []):
            raise Forged("recordMeta contradicts the record")
        if meta["omitted"]:
            raise Unknown(f"left out: {meta['omitted']}")
        settled = sum(claim["type"] == "EscrowJob" and claim["outcome"] in ("Completed", "Refunded", "Resolved") for claim in self.record)
        if self.is_then and settled < self.read["jobsCompleted"] + self.read["jobsFailed"] and "EscrowJob" in meta["scope"]["covers"]:
            raise Unknown("the registry counts more settled jobs than the record has")
        if not any(claim["type"] == "Registration" for claim in self.record):
            raise Unknown("no registration")
        totals = [("Feedback", self.summary["feedback"]["total"]), ("Validation", self.summary["validations"]["total"]),
                  ("X402Receipt", self.summary["x402ReceiptCount"]), ("X402Payment", self.summary["x402PaymentCount"])]
        for kind, count in totals:
            if count > sum(claim["type"] == kind for claim in self.record):
                raise Unknown(f"claims of {kind} are missing")


def verdict(text, pins, chain, issuers, now):
    try:
        credential = Credential(text, pins, chain, issuers, now)
        if not isinstance(credential.document, dict):
            raise Unknown("no object")
        found = credential.check()
    except (Unknown, ValueError, RecursionError) as reason:
        found = [(UNKNOWN, f"no credential: {reason}")]
    outcomes = {outcome for outcome, _ in found}
    worst = next((outcome for outcome in (FORGED, UNKNOWN, OUTDATED) if outcome in outcomes), VALID)
    return worst, [reason for _, reason in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("contracts")
    parser.add_argument("rpc")
    parser.add_argument("issuer")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument("--now", type=int, default=int(datetime.now().timestamp()))
    arguments = parser.parse_args()
    with open(arguments.contracts) as file:
        pins = json.load(file)
    chain, issuers = Chain(arguments.rpc), {to_checksum_address(arguments.issuer)}
    text = sys.stdin.buffer.read()
    worst = VALID
    for document in text.split(b"\n") if arguments.lines else [text]:
        if document or not arguments.lines:
            worst, reasons = verdict(document, pins, chain, issuers, arguments.now)
            print(json.dumps({"verdict": NAMES[worst], "exitCode": worst, "reasons": reasons[:5]}), flush=True)
    sys.exit(worst)


if __name__ == "__main__":
    main()
