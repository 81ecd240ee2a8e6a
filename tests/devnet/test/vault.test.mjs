// X402Vault: deposits, vouchers one by one and many at a time, and the way out.
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { privateKeyToAccount } from "viem/accounts";
import { FMX, ZERO, brief, hash, names, useChain } from "../lib/harness.mjs";

const chain = useChain();
const [payer, payee, other] = [0, 1, 2].map((index) => () => chain.users[index].address);
const ORDER = 2n ** 256n - 432420386565659656852420866394968145599n;
let now;

beforeEach(async () => {
  now = BigInt(await chain.now());
  await chain.send(payer(), "x402Vault", "deposit", [], 10n * FMX);
});

async function voucher(changes = {}) {
  const v = { payer: payer(), payee: payee(), amount: FMX, nonce: 1n, expiry: now + 1000n, ref: hash("ref"), ...changes };
  const digest = await chain.read("x402Vault", "hashVoucher", v);
  return [v, await privateKeyToAccount(chain.users[0].privateKey).sign({ hash: digest })];
}

const verify = async (v, sig) => chain.read("x402Vault", "verify", v, sig);
const balance = () => chain.read("x402Vault", "balance", payer());
const credits = (account) => chain.read("x402Vault", "credits", account);

test("anyone deposits, for themselves or others, but not nothing", async () => {
  assert.deepEqual(brief(await chain.send(other(), "x402Vault", "depositFor", [payer()], 5n)), [
    ["Deposited", { payer: payer(), amount: 5n }],
  ]);
  assert.equal(await balance(), 10n * FMX + 5n);
  await chain.reverts("ZeroValue", [], payer(), "x402Vault", "deposit");
  await chain.reverts("ZeroAddress", [], payer(), "x402Vault", "depositFor", [ZERO], 1n);
});

test("a voucher pays its payee, less a hundredth", async () => {
  const [v, sig] = await voucher();
  assert.deepEqual(await verify(v, sig), [true, ""]);
  const events = await chain.send(other(), "x402Vault", "settle", [v, sig]);
  const { payer: from, payee: to, amount, nonce, ref } = v;
  assert.deepEqual(brief(events), [["Settled", { payer: from, payee: to, amount, fee: FMX / 100n, nonce, ref }]]);
  assert.deepEqual([await balance(), await credits(payee())], [9n * FMX, (FMX * 99n) / 100n]);
  assert.equal(await credits(chain.at.treasury), FMX / 100n);
  assert.equal(await chain.read("x402Vault", "used", payer(), 1n), true);
  await chain.reverts("VoucherInvalid", ["nonce used"], other(), "x402Vault", "settle", [v, sig]);
});

test("what is wrong with a voucher, in the order it is looked at", async () => {
  const used = await voucher();
  await chain.send(other(), "x402Vault", "settle", used);
  const wrong = [
    [{ payer: ZERO, payee: ZERO }, "zero payer"],
    [{ payee: ZERO, amount: 0n }, "zero payee"],
    [{ amount: 0n, expiry: 1n }, "zero amount"],
    [{ expiry: 1n }, "expired"],
    [{ amount: 100n * FMX }, "nonce used"],
    [{ nonce: 2n, amount: 100n * FMX }, "insufficient balance"],
    [{ nonce: 2n, payer: other() }, "insufficient balance"],
  ];
  for (const [changes, reason] of wrong) {
    const signed = await voucher(changes);
    assert.deepEqual(await verify(...signed), [false, reason]);
    await chain.reverts("VoucherInvalid", [reason], other(), "x402Vault", "settle", signed);
  }
});

test("signatures: 65 bytes, low s, either form of v", async () => {
  const [v, sig] = await voucher();
  const bytes = Buffer.from(sig.slice(2), "hex");
  const changed = (change) => {
    const copy = Buffer.from(bytes);
    return `0x${(change(copy) ?? copy).toString("hex")}`;
  };
  assert.deepEqual(await verify(v, changed((copy) => void (copy[64] -= 27))), [true, ""]);
  const highS = changed((copy) => {
    const s = BigInt(`0x${copy.subarray(32, 64).toString("hex")}`);
    Buffer.from((ORDER - s).toString(16).padStart(64, "0"), "hex").copy(copy, 32);
    copy[64] = copy[64] === 27 ? 28 : 27;
  });
  const bad = [highS, changed((copy) => copy.subarray(0, 64)), changed((copy) => void (copy[64] = 29)), "0x", changed((copy) => void (copy[5] ^= 1))];
  for (const one of bad) assert.deepEqual(await verify(v, one), [false, "bad signature"], one);
  await chain.travelTo(Number(v.expiry));
  assert.deepEqual(await verify(v, sig), [true, ""], "the last second counts");
});

test("a batch skips what is invalid and sees what is left of the balance", async () => {
  const first = await voucher({ nonce: 1n, amount: 6n * FMX });
  const tooMuch = await voucher({ nonce: 2n, amount: 6n * FMX });
  const small = await voucher({ nonce: 3n, amount: 4n * FMX });
  const all = [first, tooMuch, first, small];
  const events = await chain.send(other(), "x402Vault", "settleBatch", [all.map(([v]) => v), all.map(([, sig]) => sig)]);
  assert.deepEqual(names(events), ["Settled", "Skipped", "Skipped", "Settled"]);
  assert.deepEqual(events[1].args, { payer: payer(), nonce: 2n, reason: "insufficient balance" });
  assert.equal(events[2].args.reason, "nonce used");
  assert.equal(await balance(), 0n);
  await chain.reverts("LengthMismatch", [], other(), "x402Vault", "settleBatch", [[first[0]], []]);
});

test("money leaves an hour after it was asked for", async () => {
  const withdraw = (amount) => [payer(), "x402Vault", "withdraw", [amount]];
  await chain.reverts("Locked", [], ...withdraw(1n));
  const events = await chain.send(payer(), "x402Vault", "requestUnlock");
  const at = BigInt(await chain.now()) + 3600n;
  assert.deepEqual(brief(events), [["UnlockRequested", { payer: payer(), at }]]);
  await chain.travelTo(Number(at) - 1);
  await chain.reverts("TooEarly", [at], ...withdraw(1n));
  await chain.send(other(), "x402Vault", "settle", await voucher({ expiry: at + 10n }));
  await chain.reverts("ZeroValue", [], ...withdraw(0n));
  await chain.travelTo(Number(at) + 5);
  await chain.reverts("InsufficientBalance", [10n * FMX, 9n * FMX], ...withdraw(10n * FMX));
  // A deposit does not lock again.
  await chain.send(payer(), "x402Vault", "deposit", [], FMX);
  assert.deepEqual(brief(await chain.send(...withdraw(10n * FMX))), [["Withdrawn", { to: payer(), amount: 10n * FMX }]]);
  await chain.send(payer(), "x402Vault", "deposit", [], FMX);
  await chain.reverts("Locked", [], ...withdraw(1n));
});

test("a second request moves the time", async () => {
  await chain.send(payer(), "x402Vault", "requestUnlock");
  await chain.travel(1800);
  await chain.send(payer(), "x402Vault", "requestUnlock");
  assert.equal(await chain.read("x402Vault", "unlockAt", payer()), BigInt(await chain.now()) + 3600n);
});

test("payees fetch what they earned", async () => {
  await chain.reverts("NothingToWithdraw", [], payee(), "x402Vault", "withdrawCredits");
  await chain.send(other(), "x402Vault", "settle", await voucher());
  const amount = (FMX * 99n) / 100n;
  assert.deepEqual(brief(await chain.send(payee(), "x402Vault", "withdrawCredits")), [
    ["CreditsWithdrawn", { to: payee(), amount }],
  ]);
  assert.equal(await chain.balance(chain.at.x402Vault), 9n * FMX + FMX / 100n);
});

test("a contract pays by ERC-1271, and a hostile one stops the whole batch", async () => {
  // Its owner is the payer's key, so that its signature is the account's.
  await chain.send(other(), "accountFactory", "create", [payer(), hash("salt")]);
  const account = await chain.read("accountFactory", "predict", payer(), hash("salt"));
  await chain.send(other(), "x402Vault", "depositFor", [account], FMX);
  const signed = await voucher({ payer: account });
  assert.deepEqual(await verify(...signed), [true, ""]);
  await chain.rpc.call("anvil_setCode", account, "0x60006000fd");
  assert.deepEqual(await verify(...signed), [false, "bad signature"]);
  // Answers 32 bytes that are no bytes4.
  await chain.rpc.call("anvil_setCode", account, "0x600160005260206000f3");
  const good = await voucher({ nonce: 9n });
  const batch = [[good[0], signed[0]], [good[1], signed[1]]];
  await chain.reverts("empty", [], other(), "x402Vault", "settleBatch", batch);
});

test("governance of the fee", async () => {
  assert.equal(await chain.read("x402Vault", "feeBps"), 100);
  await chain.reverts("FeeTooHigh", [], chain.at.multisig, "x402Vault", "setFee", [1001]);
  await chain.reverts("NotGovernance", [], payer(), "x402Vault", "setFee", [0]);
  await chain.govern("x402Vault", "setFee", [0]);
  await chain.send(other(), "x402Vault", "settle", await voucher());
  assert.equal(await credits(payee()), FMX);
});
