// subsquid's processor with PostgreSQL. It ends when the newest block is in.
import { EvmBatchProcessor } from "@subsquid/evm-processor";
import pg from "pg";
import { decodeEventLog, toEventSelector } from "viem";
import { contracts, database, rpc, step } from "./events.mjs";

const abis = new Map(Object.values(contracts).map(({ abi, address }) => [address.toLowerCase(), abi]));
const processor = new EvmBatchProcessor()
  .setRpcEndpoint({ url: rpc, maxBatchCallSize: 100 })
  .setFinalityConfirmation(1)
  .setBlockRange({ from: 1, to: Number(process.env.INDEXER_LAST_BLOCK) })
  .setFields({ log: { topics: true, data: true } });
for (const { abi, address } of Object.values(contracts)) {
  processor.addLog({ address: [address.toLowerCase()], topic0: abi.map((event) => toEventSelector(event)) });
}

const client = new pg.Client({ connectionString: database });
await client.connect();
await client.query(`CREATE TABLE steps (id text PRIMARY KEY, block bigint, event text, subject text, args text);
  CREATE TABLE place (height int)`);

/** What the processor wants of a database without a memory of unfinished blocks. */
const store = {
  supportsHotBlocks: false,
  async connect() {
    return { height: -1, hash: "0x" };
  },
  async transact({ nextHead }, change) {
    await client.query("BEGIN");
    await change(client);
    await client.query("INSERT INTO place VALUES ($1)", [nextHead.height]);
    await client.query("COMMIT");
  },
};

processor.run(store, async ({ blocks, store }) => {
  const rows = blocks.flatMap(({ header, logs }) =>
    logs.map(({ address, topics, data, logIndex }) => {
      const { eventName: name, args } = decodeEventLog({ abi: abis.get(address), topics, data });
      return step({ block: header.height, logIndex, name, args });
    }),
  );
  const column = (name) => rows.map((row) => row[name]);
  await store.query(
    "INSERT INTO steps SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[])",
    ["id", "block", "event", "subject", "args"].map(column),
  );
});
