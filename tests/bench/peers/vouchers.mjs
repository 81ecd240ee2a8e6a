// The check of a voucher on Fastify, better-sqlite3 and ethers: the same tables and the same answer as the gateway's.
import Database from "better-sqlite3";
import { verifyTypedData } from "ethers";
import Fastify from "fastify";

const lifeMinS = 90n;
const lifeMaxS = 3900n;
const creditMax = 1_000_000_000_000_000_000n;

const db = new Database(process.env.BENCH_DATABASE);
const known = db.prepare("SELECT state FROM x402_vouchers WHERE payer = ? AND nonce = ?");
const used = db.prepare("SELECT 1 FROM x402_settled WHERE payer = ? AND nonce = ? AND vault = ?");
const account = db.prepare("SELECT balance, unlock_at FROM x402_accounts WHERE payer = ? AND vault = ?");
const refused = db.prepare("SELECT refused_until_s FROM x402_payers WHERE payer = ?").pluck();
const pending = db
  .prepare("SELECT amount FROM x402_vouchers WHERE payer = ? AND state IN ('reserved', 'queued', 'submitted')")
  .pluck();

const vault = process.env.BENCH_VAULT;
const domain = { name: "ServiceX402", version: "1", chainId: 3961, verifyingContract: vault };
const types = {
  Voucher: [
    { name: "payer", type: "address" },
    { name: "payee", type: "address" },
    { name: "amount", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "expiry", type: "uint64" },
    { name: "ref", type: "bytes32" },
  ],
};

// Why a voucher is not accepted.
function problem({ voucher, signature }) {
  const { payer, nonce } = voucher;
  const now = BigInt(Math.floor(Date.now() / 1000));
  const life = BigInt(voucher.expiry) - now;
  if (life < lifeMinS || life > lifeMaxS) return "the voucher's life is too short or too long";
  const amount = BigInt(voucher.amount);
  if (amount === 0n) return "the amount is zero";
  if (known.get(payer, nonce) || used.get(payer, nonce, vault)) return "the nonce is used";
  if (verifyTypedData(domain, types, voucher, signature) !== payer) return "the signature is not the payer's";
  const funds = account.get(payer, vault) ?? { balance: "0", unlock_at: 0 };
  if (BigInt(refused.get(payer) ?? 0) > now) return "the payer is refused";
  const owed = pending.all(payer).reduce((sum, wei) => sum + BigInt(wei), 0n);
  if (owed + amount > BigInt(funds.balance)) return "not covered";
  if (funds.unlock_at > 0 && BigInt(funds.unlock_at) <= now + lifeMinS) return "the balance leaves too soon";
  return owed > 0n && owed + amount > creditMax ? "the credit is used up" : null;
}

const app = Fastify({ bodyLimit: 65_536 });

app.get("/ready", () => "");

app.post("/api/x402/verify", (request) => {
  const reason = problem(request.body);
  const isValid = reason === null;
  return { isValid, ok: isValid, invalidReason: reason, reason, payer: request.body.voucher.payer, vault };
});

const [host, port] = process.env.BENCH_LISTEN.split(":");
await app.listen({ host, port: Number(port) });
