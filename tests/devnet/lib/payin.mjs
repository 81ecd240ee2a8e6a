// The chains beside the main one on which people pay for coins: anvil with a test dollar, behind two proxies, because a gateway believes
// what two servers say. Their ids are those of development chains, so that nothing that is signed for them is good on a real one; only
// tests ask for chains with real ids, where the test keys have nothing.
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
/** Chains of which a gateway knows the facts. Ids, confirmations and contracts are the real ones, typed from their explorers. */
const NAMED = [
  ["eth", 1, 6, 6, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0xdAC17F958D2ee523a2206206994597C13D831ec7"],
  ["bsc", 56, 18, 12, "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", "0x55d398326f99059fF775485246999027B3197955"],
  ["base", 8453, 6, 20, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2"],
  ["arbitrum", 42161, 6, 20, "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9"],
  ["polygon", 137, 6, 60, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "0xc2132D05D31c914a87C6611C10748AEb04B58e8F"],
  ["optimism", 10, 6, 20, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58"],
  ["avalanche", 43114, 6, 6, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"],
].map(([name, chainId, decimals, confirmations, token, usdt]) => ({ name, title: name, chainId, decimals, confirmations, named: { token, usdt } }));
/** USD for a coin of these chains, with 8 decimals. */
const COIN_USD = 2500n * 10n ** 8n;
/** What each test key `user1` to `user10` has. */
const DOLLARS = 100_000n;
const GAS = hex(3_000_000);
/** The rule on tips is the main network's. */
const ANY_TIP = { tip: { minWei: "0", underpriced: "allow" } };

/** Starts all, or so many of the named ones. Answers {chains, stop()}; `chains` is what devnet.json has as `payin`. */
export async function startPayinChains({ blockTime, payinNamed }) {
  if (payinNamed > NAMED.length) throw new Error(`--payin-named takes at most ${NAMED.length}`);
  const wanted = payinNamed > 0 ? NAMED.slice(0, payinNamed) : CHAINS;
  const started = await Promise.all(wanted.map((chain) => start(chain, blockTime)));
  return {
    chains: started.map(({ described }) => described),
    stop: () => Promise.all(started.map(({ stop }) => stop())),
  };
}

async function start({ named, ...chain }, blockTime) {
  const anvil = await startAnvil({ accounts: KEY_COUNT, chainId: chain.chainId });
  const contracts = await deploy(anvil.rpc, chain.decimals, named);
  if (blockTime > 0) await anvil.rpc.call("evm_setIntervalMining", blockTime);
  const servers = [await startProxy(anvil.url), await startProxy(anvil.url)];
  for (const server of servers) await server.change(ANY_TIP);
  const urls = { rpcUrls: servers.map(({ url }) => url), anvilUrl: anvil.url };
  const taken = { deposit: keyOf(testKeys(), "multisig1").address, confirmations: chain.confirmations ?? CONFIRMATIONS };
  const stop = () => Promise.all([anvil.stop(), ...servers.map((server) => server.stop())]);
  return { described: { ...chain, ...urls, ...taken, ...contracts }, stop };
}

/**
 * `token` is the dollar, `lookAlike` another one of the same name that nobody takes, `router` moves dollars for others. A named chain has
 * its dollars `token` and `usdt` where the real ones are, `odd` with odd transfers, `coinSender`, and `feed` with the price of a coin.
 */
async function deploy(rpc, decimals, named) {
  const keys = testKeys();
  const from = keyOf(keys, "deployer").address;
  const artifacts = compile({ only: ["payin/Dollars.sol", "payin/OddTransfers.sol"] });
  const send = async (transaction) => {
    const receipt = await rpc.receipt(await rpc.call("eth_sendTransaction", { from, gas: GAS, ...transaction }));
    if (receipt.status !== "0x1") throw new Error("a transaction of the chain of deposits reverted");
    return receipt;
  };
  const create = async (name, args) => {
    const { abi, bytecode } = artifacts[name];
    return getAddress((await send({ data: encodeDeployData({ abi, bytecode, args }) })).contractAddress);
  };
  const dollar = async () => create("DevDollar", [decimals]);
  /** Code has its constants in it, and dollars have nothing in storage before the first is made. */
  const moved = async (to) => {
    await rpc.call("anvil_setCode", to, await rpc.call("eth_getCode", await dollar(), "latest"));
    return to;
  };
  const token = named ? await moved(named.token) : await dollar();
  const lookAlike = await dollar();
  const router = await create("DollarRouter", []);
  const extras = named ? { usdt: await moved(named.usdt), odd: await create("OddDollar", []) } : {};
  const { abi } = artifacts.DevDollar;
  const mint = async (to, places) => {
    const value = DOLLARS * 10n ** BigInt(places);
    for (const { address } of keys.filter(({ role }) => role.startsWith("user"))) {
      await send({ to, data: encodeFunctionData({ abi, functionName: "mint", args: [address, value] }) });
    }
  };
  for (const to of [token, lookAlike]) await mint(to, decimals);
  if (!named) return { token, lookAlike, router };
  await mint(extras.usdt, decimals);
  await mint(extras.odd, 6);
  const coins = { coinSender: await create("CoinSender", []), feed: await create("DevFeed", [COIN_USD]) };
  return { token, lookAlike, router, ...extras, ...coins };
}
