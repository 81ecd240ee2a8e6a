import { onchainTable } from "ponder";

export const steps = onchainTable("steps", (t) => ({
  id: t.text().primaryKey(),
  block: t.bigint().notNull(),
  event: t.text().notNull(),
  subject: t.text().notNull(),
  args: t.text().notNull(),
}));
