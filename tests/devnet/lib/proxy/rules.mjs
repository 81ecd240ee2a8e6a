// What the proxy does wrong on purpose, as data. Rule: a change that it does not understand changes nothing.

const GWEI = 10n ** 9n;

/** An honest node that enforces the network's rule on tips. README.md explains each. */
export const HONEST = {
  tip: { minWei: GWEI.toString(), underpriced: "refuse" },
  lagBlocks: 0,
  headMax: null,
  lieHead: 0,
  lieBalanceWei: null,
  lieReceipts: false,
  lieLogs: null,
  logsRangeMax: null,
  logsResultsMax: null,
  logsErrorStyle: "infura",
  dropReceipts: false,
  delayMs: 0,
  webSocket: "pass",
  failures: [],
};

const isWhole = (value) => Number.isInteger(value) && value >= 0;
const isWei = (value) => typeof value === "string" && /^-?\d+$/.test(value);
const isFlag = (value) => typeof value === "boolean";
const orNull = (check) => (value) => value === null || check(value);
const oneOf = (...values) => (value) => values.includes(value);

const CHECKS = {
  lagBlocks: isWhole,
  headMax: orNull(isWhole),
  lieHead: Number.isInteger,
  lieBalanceWei: orNull(isWei),
  lieReceipts: isFlag,
  lieLogs: oneOf(null, "drop", "alter", "repeat"),
  logsRangeMax: orNull(isWhole),
  logsResultsMax: orNull(isWhole),
  logsErrorStyle: oneOf("infura", "alchemy", "quicknode", "ankr", "bsc", "geth"),
  dropReceipts: isFlag,
  delayMs: isWhole,
  webSocket: oneOf("pass", "refuse"),
};

const FAILURE_CHECKS = {
  mode: oneOf("status", "timeout", "garbage", "reset", "error", "truncated"),
  status: isWhole,
  methods: (value) => Array.isArray(value) && value.every((method) => typeof method === "string"),
  every: (value) => isWhole(value) && value > 0,
  times: isWhole,
};

/** The rules after a change. `tip` is merged, everything else replaced. Throws a sentence that names what is wrong. */
export function changed(rules, change) {
  if (change === null || typeof change !== "object" || Array.isArray(change)) throw new Error("send an object of rules");
  const next = { ...rules };
  for (const [name, value] of Object.entries(change)) {
    if (name === "tip") next.tip = changedTip(rules.tip, value);
    else if (name === "failures") next.failures = checkedFailures(value);
    else if (!(name in CHECKS)) throw new Error(`there is no rule ${name}`);
    else if (!CHECKS[name](value)) throw new Error(`${name} cannot be ${JSON.stringify(value)}`);
    else next[name] = value;
  }
  return next;
}

function changedTip(tip, value) {
  const next = { ...tip, ...value };
  const known = Object.keys(next).every((key) => key in HONEST.tip);
  const isUnderpriced = oneOf("refuse", "hold", "drop", "allow");
  if (!known || !isWei(next.minWei) || !isUnderpriced(next.underpriced)) {
    throw new Error(`tip cannot be ${JSON.stringify(value)}`);
  }
  return next;
}

function checkedFailures(list) {
  if (!Array.isArray(list)) throw new Error("failures is a list");
  return list.map((failure) => {
    const isKnown = ([name, value]) => FAILURE_CHECKS[name]?.(value);
    if (!failure?.mode || !Object.entries(failure).every(isKnown)) {
      throw new Error(`there is no failure ${JSON.stringify(failure)}`);
    }
    return { ...failure, seen: 0 };
  });
}

/** The failure that meets this request, if one does: the first in the list that is about it and due. */
export function failureFor(rules, methods) {
  for (const failure of rules.failures) {
    if (failure.methods && !methods.some((method) => failure.methods.includes(method))) continue;
    failure.seen += 1;
    const isDue = failure.seen % (failure.every ?? 1) === 0;
    const isUsedUp = failure.times !== undefined && failure.seen / (failure.every ?? 1) > failure.times;
    if (isDue && !isUsedUp) return failure;
  }
  return null;
}
