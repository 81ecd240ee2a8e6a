// Uses the chain through a gateway's RPC with viem, in batches: `node rpc_viem.mjs RPC_URL PRIVATE_KEY VAULT`.
import { createPublicClient, createWalletClient, defineChain, http, parseAbi, parseAbiItem } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const [url, key, vault] = process.argv.slice(2);
const account = privateKeyToAccount(key);
const transport = http(url, { batch: true });
const id = await createPublicClient({ transport }).getChainId();
const chain = defineChain({
  id,
  name: "service",
  nativeCurrency: { name: "FMX", symbol: "FMX", decimals: 18 },
  rpcUrls: { default: { http: [url] } },
});
const client = createPublicClient({ chain, transport, pollingInterval: 100 });
const wallet = createWalletClient({ account, chain, transport });
const abi = parseAbi(["function deposit() payable", "function balance(address) view returns (uint256)"]);
const balance = (blockNumber) =>
  client.readContract({ address: vault, abi, functionName: "balance", args: [account.address], blockNumber });
const [before] = await Promise.all([balance(), client.getBlock(), client.getGasPrice()]);
const hash = await wallet.writeContract({ address: vault, abi, functionName: "deposit", value: 1000n });
const receipt = await client.waitForTransactionReceipt({ hash });
const after = await balance(receipt.blockNumber);
const event = parseAbiItem("event Deposited(address indexed payer, uint256 amount)");
const { blockNumber } = receipt;
const logs = await client.getLogs({ address: vault, event, args: { payer: account.address }, fromBlock: blockNumber, toBlock: blockNumber });
const refused = await client.request({ method: "eth_newBlockFilter" }).then(() => false, (error) => error.code === -32601);
console.log(
  JSON.stringify({
    chainId: id,
    hash,
    status: receipt.status === "success" ? 1 : 0,
    deposited: String(after - before),
    logs: logs.length,
    refused,
  }),
);
