import { createConfig } from "ponder";
import { chainId, contracts, database, rpc } from "./events.mjs";

const place = { chain: "main", startBlock: 1 } as const;

export default createConfig({
  database: { kind: "postgres", connectionString: database },
  chains: { main: { id: chainId, rpc } },
  contracts: { Registry: { ...contracts.Registry, ...place }, Escrow: { ...contracts.Escrow, ...place } },
});
