// Sends what a quote asks for, on a chain of `cargo xtask dev --payin`: `node send_usdc.mjs QUOTE_ID [GATEWAY]`.
import { readFileSync } from "node:fs";
import { createPublicClient, createWalletClient, http, parseAbi } from "viem";
import { mnemonicToAccount } from "viem/accounts";

const [quoteId, gateway = "http://127.0.0.1:8080"] = process.argv.slice(2);
// A wallet that has test dollars on every dev chain; everybody knows its key.
const words = "test test test test test test test test test test test junk";
const account = mnemonicToAccount(words, { addressIndex: 15 });

const quote = await (await fetch(`${gateway}/api/payin/${quoteId}`)).json();
if (quote.status !== "quoted") throw new Error(`nothing is to be sent: ${JSON.stringify(quote)}`);
// On a real chain: any RPC server of it.
const { payin } = JSON.parse(readFileSync(new URL("../../data/devnet/devnet.json", import.meta.url), "utf8"));
const { rpcUrls } = payin.find(({ name }) => name === quote.chain);
const transport = http(rpcUrls[0]);

const hash = await createWalletClient({ account, chain: null, transport }).writeContract({
  address: quote.token,
  abi: parseAbi(["function transfer(address to, uint256 value) returns (bool)"]),
  functionName: "transfer",
  // A text in the token's smallest units: no rounding on the way.
  args: [quote.depositAddress, BigInt(quote.sendExactly)],
});
const { status, blockNumber } = await createPublicClient({ transport }).waitForTransactionReceipt({ hash });
if (status !== "success") throw new Error(`${hash} failed`);
console.log(`sent ${quote.sendExactlyFormatted} ${quote.asset} to ${quote.depositAddress} in block ${blockNumber} of ${quote.chain}: ${hash}`);
