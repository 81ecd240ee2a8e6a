// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.28;

// The names that wallets sign and clients see. A test compiles the contracts with the deployed network's names as well.

string constant VAULT_NAME = "ServiceX402";
string constant ACCOUNT_NAME = "ServiceAgentAccount";
string constant ANCHOR_NAME = "ServiceMemoryAnchor";
string constant ENDORSEMENTS_NAME = "ServiceEndorsements";
string constant REGISTRIES_VERSION = "service-2.0.0";
