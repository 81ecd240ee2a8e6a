// StreamPay: money by the second, and subscriptions by the period.
import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY, FMX, ZERO, brief, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const [payer, payee, other] = [0, 1, 2].map((index) => () => chain.users[index].address);
const RATE = 10n ** 15n;
const net = (gross) => gross - gross / 100n;
const credits = (account) => chain.read("streamPay", "credits", account);
const send = (who, name, args, value) => chain.send(who, "streamPay", name, args, value);
const refused = (error, args, who, name, call, value) => chain.reverts(error, args, who, "streamPay", name, call, value);
const now = async () => BigInt(await chain.now());

/** Stream 1, for 1000 seconds and a little that makes no second. */
async function open() {
  const events = await send(payer(), "openStream", [payee(), RATE], 1000n * RATE + 7n);
  return { start: await now(), events };
}

test("a stream runs as long as its deposit", async () => {
  const { start, events } = await open();
  const deposit = 1000n * RATE + 7n;
  const stream = { payer: payer(), payee: payee(), ratePerSec: RATE, deposit, start, stop: start + 1000n };
  assert.deepEqual(brief(events), [["StreamOpened", { id: 1n, ...stream }]]);
  const stored = { ...stream, withdrawn: 0n, cancelled: false };
  assert.deepEqual(await chain.read("streamPay", "getStream", 1n), stored);
  await chain.travelTo(Number(start) + 10);
  assert.equal(await chain.read("streamPay", "claimable", 1n), 10n * RATE);
  await chain.travelTo(Number(start) + 5000);
  assert.equal(await chain.read("streamPay", "claimable", 1n), 1000n * RATE);
  assert.equal((await chain.read("streamPay", "getStream", 9n)).payer, ZERO);
});

test("what is no stream", async () => {
  await refused("ZeroAddress", [], payer(), "openStream", [ZERO, 1n], 1n);
  await refused("SelfPayment", [], payer(), "openStream", [payer(), 1n], 1n);
  await refused("ZeroRate", [], payer(), "openStream", [payee(), 0n], 1n);
  await refused("InsufficientDeposit", [RATE - 1n, RATE], payer(), "openStream", [payee(), RATE], RATE - 1n);
  for (const call of ["claimStream", "cancelStream", "topUp"]) await refused("UnknownStream", [], payer(), call, [1n]);
});

test("the payee claims what has accrued, less a hundredth", async () => {
  const { start } = await open();
  await refused("NotPayee", [], payer(), "claimStream", [1n]);
  await chain.rpc.call("evm_setNextBlockTimestamp", `0x${(start + 100n).toString(16)}`);
  const gross = 100n * RATE;
  assert.deepEqual(brief(await send(payee(), "claimStream", [1n])), [
    ["StreamClaimed", { id: 1n, payeeAmount: net(gross), fee: gross / 100n }],
  ]);
  assert.deepEqual([await credits(payee()), await credits(chain.at.treasury)], [net(gross), gross / 100n]);
  await refused("NothingToClaim", [], payee(), "claimStream", [1n]);
  assert.deepEqual(names(await send(payee(), "withdraw", [])), ["Withdrawn"]);
});

test("anyone tops up a stream that runs", async () => {
  const { start } = await open();
  await refused("ZeroValue", [], other(), "topUp", [1n]);
  const deposit = 1100n * RATE + 7n;
  assert.deepEqual(brief(await send(other(), "topUp", [1n], 100n * RATE)), [
    ["StreamToppedUp", { id: 1n, amount: 100n * RATE, deposit, stop: start + 1100n }],
  ]);
  await chain.travelTo(Number(start) + 1100);
  await refused("StreamEnded", [], other(), "topUp", [1n], 1n);
});

test("either side cancels, and each gets its part, dust to the payer", async () => {
  const { start } = await open();
  await refused("NotParty", [], other(), "cancelStream", [1n]);
  await chain.rpc.call("evm_setNextBlockTimestamp", `0x${(start + 400n).toString(16)}`);
  const gross = 400n * RATE;
  const refund = 600n * RATE + 7n;
  assert.deepEqual(brief(await send(payee(), "cancelStream", [1n])), [
    ["StreamCancelled", { id: 1n, by: payee(), payeeAmount: net(gross), fee: gross / 100n, refund }],
  ]);
  assert.equal(await credits(payer()), refund);
  assert.equal(await chain.read("streamPay", "claimable", 1n), 0n);
  await refused("StreamAlreadyCancelled", [], payer(), "cancelStream", [1n]);
  await refused("StreamAlreadyCancelled", [], payer(), "topUp", [1n], 1n);
  await refused("NothingToClaim", [], payee(), "claimStream", [1n]);
});

test("after its end a stream can still be cancelled", async () => {
  const { start } = await open();
  await chain.travelTo(Number(start) + 2000);
  const [{ args }] = await send(payer(), "cancelStream", [1n]);
  assert.deepEqual([args.payeeAmount + args.fee, args.refund], [1000n * RATE, 7n]);
});

const PRICE = FMX;
const PERIOD = BigInt(30 * DAY);
const plan = () => send(payee(), "createPlan", [PRICE, PERIOD, "ipfs://plan"]);
const subscribe = (periods = 3) => send(payer(), "subscribe", [1n, periods], PRICE * BigInt(periods));

test("a plan, as its payee made it", async () => {
  assert.deepEqual(brief(await plan()), [
    ["PlanCreated", { planId: 1n, payee: payee(), pricePerPeriod: PRICE, period: PERIOD, metadataURI: "ipfs://plan" }],
  ]);
  const stored = { payee: payee(), pricePerPeriod: PRICE, period: PERIOD, active: true, metadataURI: "ipfs://plan" };
  assert.deepEqual(await chain.read("streamPay", "getPlan", 1n), stored);
  await refused("ZeroValue", [], payee(), "createPlan", [0n, 1n, ""]);
  await refused("ZeroRate", [], payee(), "createPlan", [1n, 0n, ""]);
  await refused("StringTooLong", [], payee(), "createPlan", [1n, 1n, "u".repeat(257)]);
  await refused("NotPayee", [], payer(), "setPlanActive", [1n, false]);
  await refused("UnknownPlan", [], payee(), "setPlanActive", [2n, false]);
  assert.deepEqual(brief(await send(payee(), "setPlanActive", [1n, false])), [["PlanActiveSet", { planId: 1n, active: false }]]);
  await refused("PlanInactive", [], payer(), "subscribe", [1n, 1], PRICE);
});

test("a subscription is paid exactly, and once at a time", async () => {
  await plan();
  await refused("UnknownPlan", [], payer(), "subscribe", [2n, 1], PRICE);
  await refused("SelfPayment", [], payee(), "subscribe", [1n, 1], PRICE);
  await refused("ZeroPeriods", [], payer(), "subscribe", [1n, 0]);
  await refused("WrongPayment", [PRICE + 1n, PRICE], payer(), "subscribe", [1n, 1], PRICE + 1n);
  const events = await subscribe();
  const paidThrough = (await now()) + 3n * PERIOD;
  assert.deepEqual(brief(events), [["Subscribed", { subId: 1n, planId: 1n, payer: payer(), periods: 3, paidThrough }]]);
  const stored = { planId: 1n, payer: payer(), paidThrough, cancelled: false, prepaid: 3n * PRICE };
  assert.deepEqual(await chain.read("streamPay", "getSub", 1n), stored);
  assert.equal(await chain.read("streamPay", "isSubscribed", 1n, payer()), true);
  await refused("AlreadySubscribed", [1n], payer(), "subscribe", [1n, 1], PRICE);
  await chain.travelTo(Number(paidThrough));
  assert.equal(await chain.read("streamPay", "isSubscribed", 1n, payer()), false);
  await subscribe(1);
  assert.equal(await chain.read("streamPay", "subOf", 1n, payer()), 2n);
  assert.equal(await chain.read("streamPay", "dueSubPeriods", 1n), 3n, "the lapsed one can still be claimed");
});

test("a period is due when it starts", async () => {
  await plan();
  await subscribe();
  const start = await now();
  const due = () => chain.read("streamPay", "dueSubPeriods", 1n);
  assert.equal(await due(), 1n);
  await refused("NotPayee", [], payer(), "claimSub", [1n]);
  await refused("UnknownSub", [], payee(), "claimSub", [2n]);
  assert.deepEqual(brief(await send(payee(), "claimSub", [1n])), [
    ["SubClaimed", { subId: 1n, periods: 1n, payeeAmount: net(PRICE), fee: PRICE / 100n }],
  ]);
  await refused("NothingToClaim", [], payee(), "claimSub", [1n]);
  await chain.travelTo(Number(start + PERIOD) - 1);
  assert.equal(await due(), 0n);
  await chain.travel(1);
  assert.equal(await due(), 1n);
  await chain.travelTo(Number(start + 9n * PERIOD));
  assert.equal(await due(), 2n);
});

test("a renewal settles what is due and adds to the end", async () => {
  await plan();
  await subscribe(2);
  const end = (await now()) + 2n * PERIOD;
  await refused("NotPayer", [], other(), "renew", [1n, 1], PRICE);
  await refused("WrongPayment", [0n, PRICE], payer(), "renew", [1n, 1]);
  const events = await send(payer(), "renew", [1n, 2], 2n * PRICE);
  assert.deepEqual(names(events), ["SubClaimed", "SubRenewed"]);
  assert.deepEqual(events[1].args, { subId: 1n, periods: 2, paidThrough: end + 2n * PERIOD });
  assert.equal((await chain.read("streamPay", "getSub", 1n)).prepaid, 3n * PRICE);
  await chain.travelTo(Number(end + 3n * PERIOD));
  const [, renewed] = await send(payer(), "renew", [1n, 1], PRICE);
  assert.equal(renewed.args.paidThrough, (await now()) + PERIOD, "a lapsed one begins again");
  await send(payee(), "setPlanActive", [1n, false]);
  await refused("PlanInactive", [], payer(), "renew", [1n, 1], PRICE);
});

test("a cancelled subscription gives back what has not started", async () => {
  await plan();
  await subscribe();
  await refused("NotPayer", [], other(), "cancelSub", [1n]);
  const events = await send(payer(), "cancelSub", [1n]);
  assert.deepEqual(names(events), ["SubClaimed", "SubCancelled"]);
  assert.deepEqual(events[1].args, { subId: 1n, refund: 2n * PRICE });
  const { paidThrough, cancelled, prepaid } = await chain.read("streamPay", "getSub", 1n);
  assert.deepEqual([paidThrough, cancelled, prepaid], [await now(), true, 0n]);
  assert.equal(await credits(payer()), 2n * PRICE);
  await refused("SubAlreadyCancelled", [], payer(), "cancelSub", [1n]);
  await refused("SubAlreadyCancelled", [], payer(), "renew", [1n, 1], PRICE);
  await refused("SubAlreadyCancelled", [], payee(), "claimSub", [1n]);
  assert.equal(await chain.read("streamPay", "isSubscribed", 1n, payer()), false);
  await subscribe(1);
});

test("governance of the fee", async () => {
  assert.equal(await chain.read("streamPay", "feeBps"), 100);
  await refused("FeeTooHigh", [], chain.at.multisig, "setFee", [1001]);
  await refused("NotGovernance", [], payer(), "setFee", [1]);
  assert.deepEqual(names(await chain.govern("streamPay", "setFee", [1000])), ["FeeChanged"]);
  await refused("NothingToWithdraw", [], other(), "withdraw", []);
});
