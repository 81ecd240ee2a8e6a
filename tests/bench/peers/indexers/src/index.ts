import { ponder } from "ponder:registry";
import { steps } from "ponder:schema";
import { contracts, step } from "../events.mjs";

for (const [contract, { abi }] of Object.entries(contracts)) {
  for (const { name } of abi) {
    ponder.on(`${contract}:${name}` as any, async ({ event, context }: any) => {
      const { block, log, args } = event;
      const row = step({ block: block.number, logIndex: log.logIndex, name, args });
      await context.db.insert(steps).values(row);
    });
  }
}
