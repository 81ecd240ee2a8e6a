"""Reads a registration file (ERC-8004) from standard input as the reader of agent0-sdk does, and prints what it understood.

Only the file with the SDK's models is loaded: the rest of the package needs web3 and more.
"""

import importlib.util
import json
import sys
from pathlib import Path

package = importlib.util.find_spec("agent0_sdk").submodule_search_locations[0]
spec = importlib.util.spec_from_file_location("models", Path(package) / "core" / "models.py")
models = importlib.util.module_from_spec(spec)
sys.modules["models"] = models
spec.loader.exec_module(models)

file = models.RegistrationFile.from_dict(json.load(sys.stdin))
print(json.dumps({
    "name": file.name,
    "active": file.active,
    "x402": file.x402support,
    "trust": [getattr(trust, "value", trust) for trust in file.trustModels],
    "endpoints": [[endpoint.type.value, endpoint.value] for endpoint in file.endpoints],
}))
