// A worker of webhooks on undici and better-sqlite3, on the tables of the gateway: due rows are polled, signed, sent, and what
// became of them is written. An endpoint gets its deliveries one at a time and in their order.
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import Database from "better-sqlite3";
import { Agent, request } from "undici";

const secret = process.env.BENCH_SECRET;
const pausesS = [10, 60, 600];
const pollMs = 50;
const rowsMax = 1000;

const db = new Database(process.env.BENCH_DATABASE);
db.pragma("journal_mode = WAL");
db.pragma(`synchronous = ${process.env.BENCH_SYNCHRONOUS}`);
// What is due has to be found among what is done.
db.exec("CREATE INDEX IF NOT EXISTS worker_due ON webhooks_deliveries (status, next_at)");

const due = db.prepare(
  `SELECT d.id, d.webhook_id, d.event, d.event_id, d.attempts, d.data, e.url FROM webhooks_deliveries d
   JOIN webhooks_endpoints e ON e.id = d.webhook_id
   WHERE d.status = 'pending' AND d.next_at <= ? AND e.active = 1 ORDER BY d.id LIMIT ${rowsMax}`,
);
const replay = db.prepare(
  `UPDATE webhooks_deliveries SET status = 'pending', attempts = 0, next_at = ?, finished_at = NULL, last_error = NULL,
   last_status = NULL, replayed = 1 WHERE status IN ('ok', 'failed')`,
);
const record = db.prepare(
  `UPDATE webhooks_deliveries SET status = ?, attempts = attempts + 1, next_at = ?, last_status = ?, last_error = ?,
   finished_at = ?, replayed = 0 WHERE id = ?`,
);
const succeeded = db.prepare(
  "UPDATE webhooks_endpoints SET last_success_at = ?, failures = 0, failure_days = 0 WHERE id = ?",
);
const failed = db.prepare("UPDATE webhooks_endpoints SET failures = failures + 1 WHERE id = ?");

const agent = new Agent({ connections: 4, pipelining: 1, headersTimeout: 10_000, bodyTimeout: 10_000 });
const nowS = () => Math.floor(Date.now() / 1000);
const hmac = (text) => createHmac("sha256", secret).update(text);

function headers(row, ts, body) {
  return {
    "content-type": "application/json",
    "user-agent": "service-gateway/webhooks",
    "X-Service-Event": row.event,
    "X-Service-Delivery": String(row.id),
    "X-Service-Signature": `sha256=${hmac(body).digest("hex")}`,
    "webhook-id": `whd_${row.id}`,
    "webhook-timestamp": String(ts),
    "webhook-signature": `v1,${hmac(`whd_${row.id}.${ts}.${body}`).digest("base64")}`,
  };
}

async function send(row) {
  const ts = nowS();
  const head = JSON.stringify({ id: row.event_id, event: row.event, ts, webhookId: row.webhook_id });
  const body = `${head.slice(0, -1)},"data":${row.data}}`;
  try {
    const options = { method: "POST", headers: headers(row, ts, body), body, dispatcher: agent };
    const response = await request(row.url, options);
    await response.body.dump({ limit: 65_536 });
    return { status: response.statusCode, error: null };
  } catch (error) {
    return { status: null, error: String(error) };
  }
}

const write = db.transaction((row, { status, error }) => {
  const now = nowS();
  if (status >= 200 && status < 300) {
    record.run("ok", now, status, null, now, row.id);
    succeeded.run(now, row.webhook_id);
    return;
  }
  const pauseS = pausesS[row.attempts];
  const state = pauseS === undefined ? "failed" : "pending";
  record.run(state, now + (pauseS ?? 0), status, error, pauseS === undefined ? now : null, row.id);
  failed.run(row.webhook_id);
});

async function deliver(rows) {
  for (const row of rows) write(row, await send(row));
}

async function work() {
  for (;;) {
    const rows = due.all(nowS());
    const byEndpoint = Map.groupBy?.(rows, (row) => row.webhook_id) ?? grouped(rows);
    await Promise.all([...byEndpoint.values()].map(deliver));
    if (rows.length === 0) await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

// Node has Map.groupBy from version 21 on.
function grouped(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.webhook_id)) groups.set(row.webhook_id, []);
    groups.get(row.webhook_id).push(row);
  }
  return groups;
}

const server = createServer((incoming, response) => {
  if (incoming.method === "POST") replay.run(nowS());
  response.writeHead(200, { "content-type": "application/json" }).end("{}");
});
const [host, port] = process.env.BENCH_LISTEN.split(":");
server.listen(Number(port), host);
await work();
