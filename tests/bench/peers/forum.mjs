// The forum on Fastify, better-sqlite3 and ethers: the same tables, statements and answers as the gateway's.
import { createHash } from "node:crypto";
import Database from "better-sqlite3";
import compress from "@fastify/compress";
import canonicalize from "canonicalize";
import { getAddress, hashMessage, verifyMessage } from "ethers";
import Fastify from "fastify";

const windowS = 300;
const intervalMs = 1000;

const db = new Database(process.env.BENCH_DATABASE);
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${process.env.BENCH_SYNCHRONOUS}`);

const columns = "id, title, tags, author, created_at, last_post_at, post_count, excerpt, upvotes";
const page = db.prepare(`SELECT ${columns} FROM forum_threads ORDER BY last_post_at DESC, id DESC LIMIT ? OFFSET ?`);
const count = db.prepare("SELECT count(*) AS total FROM forum_threads").pluck();
const one = db.prepare(`SELECT ${columns} FROM forum_threads WHERE id = ?`);
const postsOf = db.prepare(
  "SELECT id, thread_id, author, body, reply_to, created_at FROM forum_posts WHERE thread_id = ? ORDER BY id",
);
const guard = db.prepare(
  "INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
);
const slot = db.prepare(
  `INSERT INTO host_write_slots (address, last_ms) VALUES (?, ?) ON CONFLICT (address) DO UPDATE
   SET last_ms = excluded.last_ms WHERE host_write_slots.last_ms <= excluded.last_ms - ?`,
);
const insertThread = db.prepare(
  `INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt)
   VALUES (?, ?, ?, ?, ?, 1, 0, ?)`,
);
const insertPost = db.prepare("INSERT INTO forum_posts (thread_id, author, body, created_at) VALUES (?, ?, ?, ?)");
const insertTag = db.prepare("INSERT INTO forum_thread_tags (tag, thread_id) VALUES (?, ?)");
const insertEvent = db.prepare(
  "INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data) VALUES ('thread.create', ?, ?, 'thread', ?, ?)",
);

const author = (address) => ({ address, name: null, agentId: null });

const threadView = (row) => ({
  id: row.id,
  title: row.title,
  tags: JSON.parse(row.tags),
  author: author(row.author),
  createdAt: row.created_at,
  lastPostAt: row.last_post_at,
  postCount: row.post_count,
  excerpt: row.excerpt,
  upvotes: row.upvotes,
});

const postView = (row) => ({
  id: row.id,
  threadId: row.thread_id,
  author: author(row.author),
  body: row.body,
  replyTo: row.reply_to,
  createdAt: row.created_at,
});

class Refusal extends Error {
  constructor(statusCode, message) {
    super(message);
    this.statusCode = statusCode;
  }
}

// Form, time, signature: what needs no database.
function check({ address, ts, sig, ...payload }) {
  if (Math.abs(Date.now() / 1000 - ts) > windowS) throw new Refusal(401, "ts is too far from now");
  const signer = getAddress(address);
  const hash = createHash("sha256").update(canonicalize(payload)).digest("hex");
  const lines = ["Service Commons", "action: thread.create", `address: ${signer}`, `ts: ${ts}`, `body: ${hash}`];
  const message = lines.join("\n");
  if (verifyMessage(message, sig) !== signer) throw new Refusal(401, "the signature is not by this address");
  const { title, body, tags = [] } = payload;
  if (!title?.trim() || !body?.trim() || tags.length > 5) {
    throw new Refusal(400, "title, body or tags are not as they must be");
  }
  return { signer, digest: hashMessage(message).slice(2), title, body, tags };
}

function excerptOf(body) {
  const line = body.trim().split(/\s+/).join(" ");
  return line.length > 240 ? `${line.slice(0, 239)}…` : line;
}

// Guard, interval, thread, post, tags and event; all or nothing.
const store = db.transaction(({ signer, digest, title, body, tags }) => {
  const nowMs = Date.now();
  const now = Math.floor(nowMs / 1000);
  if (guard.run(signer, digest, now + 3 * windowS).changes === 0) {
    throw new Refusal(409, "this signature was already used");
  }
  if (slot.run(signer, nowMs, intervalMs).changes === 0) throw new Refusal(429, "one write a second and address");
  const excerpt = excerptOf(body);
  const id = Number(insertThread.run(title, JSON.stringify(tags), signer, now, now, excerpt).lastInsertRowid);
  const post = Number(insertPost.run(id, signer, body, now).lastInsertRowid);
  for (const tag of tags) insertTag.run(tag, id);
  insertEvent.run(now, signer, String(id), JSON.stringify({ threadId: id, title, tags, excerpt }));
  const times = { createdAt: now, lastPostAt: now };
  const thread = { id, title, tags, author: author(signer), ...times, postCount: 1, excerpt, upvotes: 0 };
  const opening = { id: post, threadId: id, author: author(signer), body, replyTo: null, createdAt: now };
  return { ...thread, posts: [opening] };
});

const nullable = (type) => ({ type, nullable: true });
const authorSchema = {
  type: "object",
  properties: { address: { type: "string" }, name: nullable("string"), agentId: nullable("integer") },
};
const threadProperties = {
  id: { type: "integer" },
  title: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
  author: authorSchema,
  createdAt: { type: "integer" },
  lastPostAt: { type: "integer" },
  postCount: { type: "integer" },
  excerpt: { type: "string" },
  upvotes: { type: "integer" },
};
const threadSchema = { type: "object", properties: threadProperties };
const postSchema = {
  type: "object",
  properties: {
    id: { type: "integer" },
    threadId: { type: "integer" },
    author: authorSchema,
    body: { type: "string" },
    replyTo: nullable("integer"),
    createdAt: { type: "integer" },
  },
};
const listSchema = {
  type: "object",
  properties: { items: { type: "array", items: threadSchema }, total: { type: "integer" } },
};
const detailSchema = {
  type: "object",
  properties: { ...threadProperties, posts: { type: "array", items: postSchema } },
};

const app = Fastify();
await app.register(compress);

app.get("/api/forum/threads", { schema: { response: { 200: listSchema } } }, (request) => {
  const limit = Math.min(Math.max(Number(request.query.limit ?? 25), 1), 100);
  const rows = page.all(limit, Number(request.query.offset ?? 0));
  return { items: rows.map(threadView), total: count.get() };
});

app.get("/api/forum/threads/:id", { schema: { response: { 200: detailSchema } } }, (request) => {
  const row = one.get(Number(request.params.id));
  if (!row) throw new Refusal(404, "unknown thread");
  return { ...threadView(row), posts: postsOf.all(row.id).map(postView) };
});

app.post("/api/forum/threads", { schema: { response: { 201: detailSchema } } }, (request, reply) => {
  reply.code(201);
  return store(check(request.body));
});

const [host, port] = process.env.BENCH_LISTEN.split(":");
await app.listen({ host, port: Number(port) });
