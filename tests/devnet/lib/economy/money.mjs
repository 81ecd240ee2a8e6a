// Accounts, vouchers, streams and subscriptions, each in every state it can end in.
import { hashTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DAY, FMX, hash } from "./world.mjs";

const FACTORY = ["AgentAccountFactory", "accountFactory"];
const VAULT = ["X402Vault", "x402Vault"];
const STREAMS = ["StreamPay", "streamPay"];
const VOUCHER = [
  { name: "payer", type: "address" },
  { name: "payee", type: "address" },
  { name: "amount", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "expiry", type: "uint64" },
  { name: "ref", type: "bytes32" },
];

export async function openAccounts(world) {
  const { stage, random, cast, size } = world;
  const count = world.share(size.agents, 20, 2);
  for (let index = 0; index < count; index++) {
    const owner = world.address(cast.owners[index % cast.owners.length]);
    const salt = hash(`account ${size.seed} ${index}`);
    const account = await stage.read(FACTORY, "predict", [owner, salt]);
    stage.step(random.pick(cast.clients), FACTORY, "create", [owner, salt]);
    world.accounts.push({ account, owner });
  }
  await stage.flush();
}

/** Payers need keys for vouchers, so they are two of the test keys; one of each ten vouchers is no good and skipped. */
export async function settleVouchers(world) {
  const { stage, random, size } = world;
  const payers = ["user9", "user10"].map((role) => privateKeyToAccount(stage.role(role).privateKey));
  for (const payer of payers) stage.step(payer.address, VAULT, "deposit", [], 100n * FMX);
  const expiry = BigInt((await stage.now()) + DAY);
  const firstNonce = hash(`vouchers ${size.seed} ${stage.firstBlock}`).slice(0, 18);
  const vouchers = [];
  for (let index = 0; index < Math.min(60, world.share(size.jobs, 10, 5)); index++) {
    const payer = payers[index % payers.length];
    const agent = world.agents[random.popular(world.agents.length)];
    const message = {
      payer: payer.address,
      payee: world.address(agent.owner),
      amount: BigInt(1 + random.below(500)) * 10n ** 15n,
      nonce: BigInt(firstNonce) + BigInt(index),
      expiry,
      ref: hash(`call ${index}`),
    };
    vouchers.push({ message, signature: await sign(stage, payer, message, index % 10 === 4) });
  }
  const list = [vouchers.map(({ message }) => message), vouchers.map(({ signature }) => signature)];
  stage.step(stage.role("facilitator").address, VAULT, "settleBatch", list);
  stage.step(payers[0].address, VAULT, "requestUnlock");
  await stage.flush();
  for (const [index, { message }] of vouchers.entries()) {
    const { payer, payee, amount, nonce, ref } = message;
    world.settlements.push({ payer, payee, amount, nonce, ref, skipped: index % 10 === 4 ? "bad signature" : null });
  }
}

async function sign(stage, payer, message, isBad) {
  const domain = { name: "ServiceX402", version: "1", chainId: 3961, verifyingContract: stage.at.x402Vault };
  const typed = { domain, types: { Voucher: VOUCHER }, primaryType: "Voucher", message };
  return payer.sign({ hash: isBad ? hash("something else") : hashTypedData(typed) });
}

const STREAM_ENDS = [
  ["running", 40],
  ["claimed", 20],
  ["cancelled", 20],
  ["toppedUp", 10],
  ["ended", 10],
];

/** Streams that run longer than the play, but for those that end. */
export async function openStreams(world) {
  const { stage, random, cast, size } = world;
  const ends = random.deal(STREAM_ENDS, world.share(size.agents, 10, 5));
  const last = await world.lastId(STREAMS, "nextStreamId");
  for (const [index, end] of ends.entries()) {
    const agent = world.agents[random.popular(world.agents.length)];
    const payer = random.pick(cast.clients);
    const rate = BigInt(1 + random.below(50)) * 10n ** 12n;
    const seconds = BigInt(end === "ended" ? 3600 : 90 * DAY);
    stage.step(payer, STREAMS, "openStream", [world.address(agent.owner), rate], rate * seconds + 3n);
    world.streams.push({ id: last + 1 + index, payer, payee: agent.owner, rate, end });
  }
  await stage.wait(DAY);
  for (const { id, payer, payee, rate, end } of world.streams) {
    if (end === "claimed" || end === "ended") stage.step(payee, STREAMS, "claimStream", [BigInt(id)]);
    if (end === "cancelled") stage.step(random.below(2) ? payer : payee, STREAMS, "cancelStream", [BigInt(id)]);
    if (end === "toppedUp") stage.step(payer, STREAMS, "topUp", [BigInt(id)], rate * BigInt(DAY));
  }
  await stage.flush();
}

const SUB_ENDS = [
  ["live", 50],
  ["renewed", 20],
  ["claimed", 15],
  ["cancelled", 15],
];

export async function subscribe(world) {
  const { stage, random, cast, size } = world;
  const firstPlan = (await world.lastId(STREAMS, "nextPlanId")) + 1;
  const plans = Array.from({ length: world.share(size.agents, 25, 2) }, (_, index) => {
    const { owner } = world.agents[index % world.agents.length];
    const price = BigInt(1 + random.below(20)) * 10n ** 17n;
    stage.step(owner, STREAMS, "createPlan", [price, BigInt(30 * DAY), `ipfs://plan-${firstPlan + index}`]);
    return { id: firstPlan + index, payee: owner, price, active: true };
  });
  await stage.flush();
  const ends = random.deal(SUB_ENDS, Math.min(cast.clients.length, world.share(size.agents, 10, 4)));
  const firstSub = (await world.lastId(STREAMS, "nextSubId")) + 1;
  for (const [index, end] of ends.entries()) {
    const plan = plans[index % plans.length];
    const payer = cast.clients[index];
    stage.step(payer, STREAMS, "subscribe", [BigInt(plan.id), 2], plan.price * 2n);
    world.subs.push({ id: firstSub + index, planId: plan.id, payer, payee: plan.payee, price: plan.price, end });
  }
  await stage.flush();
  for (const { id, payer, payee, price, end } of world.subs) {
    if (end === "renewed") stage.step(payer, STREAMS, "renew", [BigInt(id), 3], price * 3n);
    if (end === "claimed") stage.step(payee, STREAMS, "claimSub", [BigInt(id)]);
    if (end === "cancelled") stage.step(payer, STREAMS, "cancelSub", [BigInt(id)]);
  }
  const closed = plans[plans.length - 1];
  stage.step(closed.payee, STREAMS, "setPlanActive", [BigInt(closed.id), false]);
  closed.active = false;
  await stage.flush();
  world.plans.push(...plans);
}
