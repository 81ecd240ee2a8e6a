// The chains beside the main one on which people pay for coins: anvil with a test dollar, behind two proxies, because a gateway believes
// what two servers say. Their ids are those of development chains, so that nothing that is signed for them is good on a real one.
import { encodeDeployData, encodeFunctionData, getAddress } from "viem";
import { startProxy } from "../proxy.mjs";
import { startAnvil } from "./anvil.mjs";
import { compile } from "./compile.mjs";
import { KEY_COUNT, keyOf, testKeys } from "./keys.mjs";
import { hex } from "./rpc.mjs";

const CHAINS = [
  { name: "devbase", title: "Dev Base", chainId: 31337, decimals: 6 },
  { name: "devbsc", title: "Dev BSC", chainId: 31338, decimals: 18 },
];
const CONFIRMATIONS = 3;
/** What each test key `user1` to `user10` has. */
const DOLLARS = 100_000n;
const GAS = hex(3_000_000);
/** The rule on tips is the main network's. */
const ANY_TIP = { tip: { minWei: "0", underpriced: "allow" } };

/** Starts all. Answers {chains, stop()}; `chains` is what devnet.json has as `payin`. */
export async function startPayinChains({ blockTime }) {
  const started = await Promise.all(CHAINS.map((chain) => start(chain, blockTime)));
  return {
    chains: started.map(({ described }) => described),
    stop: () => Promise.all(started.map(({ stop }) => stop())),
  };
}

async function start(chain, blockTime) {
  const anvil = await startAnvil({ accounts: KEY_COUNT, chainId: chain.chainId });
  const contracts = await deploy(anvil.rpc, chain.decimals);
  if (blockTime > 0) await anvil.rpc.call("evm_setIntervalMining", blockTime);
  const servers = [await startProxy(anvil.url), await startProxy(anvil.url)];
  for (const server of servers) await server.change(ANY_TIP);
  const urls = { rpcUrls: servers.map(({ url }) => url), anvilUrl: anvil.url };
  const taken = { deposit: keyOf(testKeys(), "multisig1").address, confirmations: CONFIRMATIONS };
  const stop = () => Promise.all([anvil.stop(), ...servers.map((server) => server.stop())]);
  return { described: { ...chain, ...urls, ...taken, ...contracts }, stop };
}

/** `token` is the dollar, `lookAlike` another one of the same name that nobody takes, `router` moves dollars for others. */
async function deploy(rpc, decimals) {
  const keys = testKeys();
  const from = keyOf(keys, "deployer").address;
  const artifacts = compile({ only: ["payin/Dollars.sol"] });
  const send = async (transaction) => {
    const receipt = await rpc.receipt(await rpc.call("eth_sendTransaction", { from, gas: GAS, ...transaction }));
    if (receipt.status !== "0x1") throw new Error("a transaction of the chain of deposits reverted");
    return receipt;
  };
  const create = async (name, args) => {
    const { abi, bytecode } = artifacts[name];
    return getAddress((await send({ data: encodeDeployData({ abi, bytecode, args }) })).contractAddress);
  };
  const [token, lookAlike] = [await create("DevDollar", [decimals]), await create("DevDollar", [decimals])];
  const router = await create("DollarRouter", []);
  const { abi } = artifacts.DevDollar;
  const value = DOLLARS * 10n ** BigInt(decimals);
  for (const { address } of keys.filter(({ role }) => role.startsWith("user"))) {
    const data = encodeFunctionData({ abi, functionName: "mint", args: [address, value] });
    for (const to of [token, lookAlike]) await send({ to, data });
  }
  return { token, lookAlike, router };
}
