// Uses the chain through a gateway's RPC with ethers: `node rpc_ethers.mjs RPC_URL PRIVATE_KEY VAULT`.
import { Contract, JsonRpcProvider, Wallet } from "ethers";

const [url, key, vault] = process.argv.slice(2);
const provider = new JsonRpcProvider(url, undefined, { pollingInterval: 100 });
const wallet = new Wallet(key, provider);
const abi = [
  "function deposit() payable",
  "function balance(address) view returns (uint256)",
  "event Deposited(address indexed payer, uint256 amount)",
];
const contract = new Contract(vault, abi, wallet);
const before = await contract.balance(wallet.address);
const sent = await contract.deposit({ value: 1000n });
const receipt = await sent.wait();
const after = await contract.balance(wallet.address, { blockTag: receipt.blockNumber });
const logs = await contract.queryFilter(contract.filters.Deposited(wallet.address), receipt.blockNumber, receipt.blockNumber);
const refused = await provider.send("debug_traceTransaction", [sent.hash]).then(() => false, () => true);
console.log(
  JSON.stringify({
    chainId: Number((await provider.getNetwork()).chainId),
    hash: sent.hash,
    status: receipt.status,
    deposited: String(after - before),
    logs: logs.length,
    refused,
  }),
);
provider.destroy();
