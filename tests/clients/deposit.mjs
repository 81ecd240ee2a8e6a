// Makes a wallet and puts 1 FMX for it into the vault of the dev network, out of which its vouchers are paid: `node deposit.mjs
// [GATEWAY]`. Its key is in `payer.key` afterwards.
import { writeFileSync } from "node:fs";
import { createPublicClient, createWalletClient, formatEther, http, parseAbi, parseEther, parseGwei } from "viem";
import { generatePrivateKey, mnemonicToAccount, privateKeyToAccount } from "viem/accounts";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
// A new one each time: each start of the dev network is a new chain, which knows nothing of earlier vouchers.
const key = generatePrivateKey();
const payer = privateKeyToAccount(key).address;
// A wallet that has coins on every dev network gives them; everybody knows its key.
const words = "test test test test test test test test test test test junk";
const account = mnemonicToAccount(words, { addressIndex: 16 });

const { chain, contracts } = await (await fetch(`${gateway}/.well-known/agent.json`)).json();
const transport = http(chain.rpc);
const vault = {
  address: contracts.x402Vault,
  abi: parseAbi(["function depositFor(address payer) payable", "function balance(address payer) view returns (uint256)"]),
};
const hash = await createWalletClient({ account, chain: null, transport }).writeContract({
  ...vault,
  functionName: "depositFor",
  args: [payer],
  value: parseEther("1"),
  // The network takes no transaction with less.
  maxPriorityFeePerGas: parseGwei("1"),
});
const reader = createPublicClient({ transport });
// A deposit counts when three blocks are on top of its own, which the gateway has read, too.
const { blockNumber } = await reader.waitForTransactionReceipt({ hash, confirmations: 4 });
const indexedBlock = async () => (await (await fetch(`${gateway}/api/health`)).json()).indexedBlock;
while ((await indexedBlock()) < Number(blockNumber) + 3) await new Promise((resolve) => setTimeout(resolve, 200));
writeFileSync("payer.key", key, { mode: 0o600 });
const balance = await reader.readContract({ ...vault, functionName: "balance", args: [payer] });
console.log(`${payer} has ${formatEther(balance)} FMX in the vault ${vault.address}`);
