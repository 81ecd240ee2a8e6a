// Sends deposits of the test dollar as wallets, exchanges and attackers do: `node deposits.mjs viem|ethers RPC_URL PRIVATE_KEY` reads a
// list of steps from standard input, sends one after the other, and prints the hashes of their transactions.
import { readFileSync } from "node:fs";
import { Contract, JsonRpcProvider, Wallet } from "ethers";
import { createPublicClient, createWalletClient, http, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const ABI = [
  "function transfer(address to, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function mint(address to, uint256 value)",
  "function move(address token, address from, address to, uint256[] values)",
  "function moveAndUndo(address token, address from, address to, uint256 value)",
  "function sendLessFee(address to, uint256 value)",
  "function claim(address to, uint256 value)",
  "function sendUnindexed(address to, uint256 value)",
  "function sendCollectible(address to, uint256 id)",
  "function forward(address to) payable",
  "function bequeath(address to) payable",
];
/** Enough for each, so that one that fails is sent, too. */
const GAS = 500_000n;

const [library, url, key] = process.argv.slice(2);

function withViem() {
  const account = privateKeyToAccount(key);
  const transport = http(url, { retryCount: 0 });
  const wallet = createWalletClient({ account, chain: null, transport });
  const reader = createPublicClient({ transport, pollingInterval: 50 });
  const mined = async (hash) => (await reader.waitForTransactionReceipt({ hash })) && hash;
  return {
    call: async (address, functionName, args, value) =>
      mined(await wallet.writeContract({ address, abi: parseAbi(ABI), functionName, args, value, gas: GAS })),
    pay: async (to, value) => mined(await wallet.sendTransaction({ to, value })),
    end: () => {},
  };
}

function withEthers() {
  const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 50, cacheTimeout: -1 });
  const wallet = new Wallet(key, provider);
  // A receipt that says that it failed is an exception here.
  const mined = async (sent) => (await provider.waitForTransaction(sent.hash)) && sent.hash;
  return {
    call: async (address, name, args, value) =>
      mined(await new Contract(address, ABI, wallet)[name](...args, { gasLimit: GAS, ...(value > 0n && { value }) })),
    pay: async (to, value) => mined(await wallet.sendTransaction({ to, value })),
    end: () => provider.destroy(),
  };
}

const { call, pay, end } = library === "viem" ? withViem() : withEthers();
const hashes = [];
for (const { to, name, args = [], wei = 0 } of JSON.parse(readFileSync(0, "utf8"))) {
  hashes.push(name ? await call(to, name, args, BigInt(wei)) : await pay(to, BigInt(wei)));
}
console.log(JSON.stringify(hashes));
end();
