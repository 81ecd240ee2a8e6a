// Puts 1 FMX of a test wallet into the vault of the dev network, out of which its vouchers are paid: `node deposit.mjs [GATEWAY]`.
import { createPublicClient, createWalletClient, formatEther, http, parseAbi, parseEther, parseGwei } from "viem";
import { mnemonicToAccount } from "viem/accounts";

const gateway = process.argv[2] ?? "http://127.0.0.1:8080";
// One of the wallets that have coins on every dev network; everybody knows its key.
const words = "test test test test test test test test test test test junk";
const account = mnemonicToAccount(words, { addressIndex: 16 });

const { chain, contracts } = await (await fetch(`${gateway}/.well-known/agent.json`)).json();
const transport = http(chain.rpc);
const vault = {
  address: contracts.x402Vault,
  abi: parseAbi(["function deposit() payable", "function balance(address) view returns (uint256)"]),
};
const hash = await createWalletClient({ account, chain: null, transport }).writeContract({
  ...vault,
  functionName: "deposit",
  value: parseEther("1"),
  // The network takes no transaction with less.
  maxPriorityFeePerGas: parseGwei("1"),
});
const reader = createPublicClient({ transport });
await reader.waitForTransactionReceipt({ hash });
const balance = await reader.readContract({ ...vault, functionName: "balance", args: [account.address] });
console.log(`${account.address} has ${formatEther(balance)} FMX in the vault ${vault.address}`);
