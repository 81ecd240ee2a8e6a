// Checks an OpenAPI document with redocly and spectral: `npm ci && node lint-openapi.mjs FILE...`.
// Every error and every warning fails, so that a new one is seen the day it appears.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const files = process.argv.slice(2).map((file) => resolve(file));

if (files.length === 0 || !files.every((file) => existsSync(file))) {
  console.error("usage: node lint-openapi.mjs FILE...   (each an OpenAPI document as JSON)");
  process.exit(2);
}

const linters = [
  { name: "redocly", args: ["lint", "--config", join(here, ".redocly.yaml"), "--format", "stylish", ...files] },
  { name: "spectral", args: ["lint", "--ruleset", join(here, ".spectral.yaml"), "--fail-severity", "warn", ...files] },
];

let failed = false;
for (const { name, args } of linters) {
  const run = spawnSync(join(here, "node_modules", ".bin", name), args, {
    cwd: here,
    encoding: "utf8",
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  const output = `${run.stdout ?? ""}${run.stderr ?? ""}`;
  // Redocly exits with 0 when it only warns.
  const clean = run.status === 0 && !/\d+ warnings?\b/.test(output);
  console.log(clean ? `${name}: clean` : `${name}: not clean\n${run.error?.message ?? output}`);
  failed ||= !clean;
}
process.exit(failed ? 1 : 0);
