// Payloads on Fastify, better-sqlite3 and ethers: the same tables, statements and answers as the gateway's.
import Database from "better-sqlite3";
import { keccak256 } from "ethers";
import Fastify from "fastify";

const sizeMax = 262_144;
const dayS = 86_400;
const limit = 1_000_000_000_000;

const db = new Database(process.env.BENCH_DATABASE);
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${process.env.BENCH_SYNCHRONOUS}`);

const keptSince = db.prepare(
  "SELECT size FROM payloads_payloads WHERE hash = ? AND named_at >= ? AND given_up_at IS NULL",
);
const keepLonger = db.prepare("UPDATE payloads_payloads SET named_at = ?, given_up_at = NULL WHERE hash = ?");
const countClient = db.prepare(
  `INSERT INTO payloads_uploads (day, client, bytes) VALUES (?, ?, ?)
   ON CONFLICT (day, client) DO UPDATE SET bytes = payloads_uploads.bytes + excluded.bytes
   WHERE payloads_uploads.bytes + excluded.bytes <= ?`,
);
const countTotal = db.prepare(
  "UPDATE payloads_totals SET payloads = payloads + 1, bytes = bytes + ? WHERE id = 1 AND bytes + ? <= ?",
);
const insert = db.prepare(
  `INSERT INTO payloads_payloads (hash, size, content_type, created_at, named_at, bytes)
   VALUES (?, ?, ?, ?, ?, ?)`,
);
const read = db.prepare("SELECT content_type, bytes FROM payloads_payloads WHERE hash = ?");

class Refusal extends Error {
  constructor(statusCode, message) {
    super(message);
    this.statusCode = statusCode;
  }
}

// Quotas and bytes; all or nothing.
const store = db.transaction((hash, bytes, contentType, client, now) => {
  if (keepLonger.run(now, hash).changes > 0) return;
  if (countClient.run(Math.floor(now / dayS), client, bytes.length, limit).changes === 0) {
    throw new Refusal(429, "too many bytes today");
  }
  if (countTotal.run(bytes.length, bytes.length, limit).changes === 0) throw new Refusal(507, "the store is full");
  insert.run(hash, bytes.length, contentType, now, now, bytes);
});

const app = Fastify({ bodyLimit: sizeMax });
app.removeAllContentTypeParsers();
app.addContentTypeParser("*", { parseAs: "buffer" }, (_, body, done) => done(null, body));

app.get("/ready", () => "");

app.post("/api/payloads", (request) => {
  const bytes = request.body;
  if (!bytes?.length) throw new Refusal(400, "a payload has a byte at least");
  const hash = keccak256(bytes);
  const now = Math.floor(Date.now() / 1000);
  if (!keptSince.get(hash, now - dayS)) store(hash, bytes, request.headers["content-type"], request.ip, now);
  return { hash, uri: `fmx://payload/${hash}`, size: bytes.length };
});

app.get("/api/payloads/:hash", (request, reply) => {
  const row = read.get(request.params.hash);
  if (!row) throw new Refusal(404, "unknown payload");
  reply.headers({
    "content-type": row.content_type,
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    etag: `"${request.params.hash}"`,
  });
  return row.bytes;
});

const [host, port] = process.env.BENCH_LISTEN.split(":");
await app.listen({ host, port: Number(port) });
