"""Verifies the whole transparency log of a gateway with PyPI's `aics-tlog`: `python verify_log.py BASE_URL [EARLIER_CHECKPOINT]`.

The keys are those of the network's manifest. Checked are both signatures, every tile, every entry with its inclusion, that entries are
canonical JSON, and that the log continues the earlier checkpoint, a file. A log with one changed byte must fail. Prints a JSON object.
"""

import json
import sys
import urllib.request

from aics_tlog import (
    HttpTileReader,
    MemoryTileReader,
    TileVerificationError,
    audit_tiles,
    consistency_proof_from_tiles,
    inclusion_proof_from_tiles,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    read_entry,
    verify_checkpoint,
    verify_consistency,
    verify_leaf_inclusion,
)
from aics_tlog.bundle import canonical_json
from aics_tlog.tiles import entry_bundle_path, tile_path

base_url = sys.argv[1]
with urllib.request.urlopen(f"{base_url}/.well-known/service.json") as response:
    log = json.load(response)["log"]
# The base URL of the test is where the process listens.
reader = HttpTileReader([f"{base_url}/api/log/"], proxies={})
raw = reader.read_checkpoint()
note = parse_note(raw)
log_key, time_key = parse_vkey(log["publicKey"]), parse_vkey(log["cosignatureKey"])
verified = verify_checkpoint(
    note, log_key, [time_key], quorum=1, expected_origin=log["origin"], max_age_seconds=3600, max_future_seconds=60
)
assert verified.ok, verified.error
head = parse_checkpoint(note.text)
report = audit_tiles(reader, head.size, head.root)
assert report.size == head.size

entries = []
for index in range(head.size):
    entry = read_entry(reader, index, head.size)
    proof = inclusion_proof_from_tiles(reader, index, head.size)
    assert verify_leaf_inclusion(entry, index, head.size, proof, head.root), index
    event = json.loads(entry)
    assert canonical_json(event) == entry, entry
    assert sorted(event) == ["actor", "data", "id", "ref", "ts", "type"], event
    entries.append(event)

if len(sys.argv) > 2:
    with open(sys.argv[2], "rb") as file:
        earlier_note = parse_note(file.read())
    assert verify_checkpoint(earlier_note, log_key).ok
    earlier = parse_checkpoint(earlier_note.text)
    proof = consistency_proof_from_tiles(reader, earlier.size, head.size)
    assert verify_consistency(earlier.size, head.size, earlier.root, head.root, proof)


def forged(path, change):
    """What is served, with one resource changed."""
    resources = {}
    for level in range(8):
        count = head.size // 256**level
        for index in range((count + 255) // 256):
            width = min(256, count - 256 * index)
            width = None if width == 256 else width
            resources[tile_path(level, index, width)] = reader.read_tile(level, index, width)
            if level == 0:
                resources[entry_bundle_path(index, width)] = reader.read_entry_bundle(index, width)
    resources[path] = change(resources[path])
    return MemoryTileReader(resources)


def refused(path, change):
    try:
        audit_tiles(forged(path, change), head.size, head.root)
    except TileVerificationError:
        return True
    return False


width = None if head.size >= 256 else head.size
forgeries = [
    refused(tile_path(0, 0, width), lambda data: bytes([data[0] ^ 1]) + data[1:]),
    refused(entry_bundle_path(0, width), lambda data: data.replace(b'"type":', b'"typo":', 1)),
    not verify_checkpoint(parse_note(raw.replace(f"\n{head.size}\n".encode(), f"\n{head.size + 1}\n".encode())), log_key).ok,
]
print(json.dumps({"size": head.size, "types": [event["type"] for event in entries], "refused": forgeries}))
