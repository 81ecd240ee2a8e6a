// Every interface that facts/ names, held against the compiled contracts, in both directions.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { errorFact, eventFact, functionFact, types } from "../lib/abi.mjs";
import { compile } from "../lib/compile.mjs";

const facts = JSON.parse(readFileSync(new URL("../facts/interfaces.json", import.meta.url), "utf8"));
const artifacts = compile();

/** Of these the specification names only what it uses, so they may have more. */
const OPEN = ["Faucet", "WFMX", "UniswapV2Pair", "UniswapV2Factory", "DexRouter", "FMXVesting", "FoundationLock"];

/** Named in the rules of a contract (or what its setter needs), not in its table. */
const RULES = {
  Endorsements: ["governance()"],
  IdentityRegistry8004: ["safeTransferFrom(address,address,uint256)", "safeTransferFrom(address,address,uint256,bytes)"],
};

const of = (name, type) => artifacts[name].abi.filter((item) => item.type === type);

/** `Agent` and `Voucher v` of a signature as the tuple that they stand for. */
function expandTypes(name, list) {
  const parts = splitParameters(list).map((part) => {
    const [word] = part.trim().split(" ");
    const [struct, array] = word.split("[");
    const fields = facts[name].structs[struct];
    return fields ? `(${fields.map((field) => field.type).join(",")})${array ? "[]" : ""}` : word;
  });
  return parts.join(",");
}

/** Commas within parentheses divide nothing. Those groups are written without names: (string, bytes)[]. */
function splitParameters(list) {
  const closed = list.replace(/\([^)]*\)/g, (group) => group.replaceAll(", ", ";"));
  return closed.split(", ").filter((part) => part !== "").map((part) => part.replaceAll(";", ","));
}

function expectedFunction(name, fact) {
  const [, called, parameters, mutability] = fact.signature.match(/^(\w+)\((.*)\)( view| pure| payable)?$/);
  return {
    selector: fact.selector,
    call: `${called}(${expandTypes(name, parameters)})`,
    mutability: mutability?.trim() ?? "nonpayable",
    returns: expandTypes(name, fact.returns),
  };
}

function compare(name, actual, expected, key) {
  for (const one of expected) {
    assert.deepEqual(actual.find((other) => other[key] === one[key]), one, `${name} differs from the facts`);
  }
  if (OPEN.includes(name)) return;
  const extra = actual.filter((one) => !expected.some((other) => other[key] === one[key]));
  const unexplained = extra.filter((one) => !RULES[name]?.includes(one.call));
  assert.deepEqual(unexplained, [], `${name} has what the facts do not name`);
}

test("the facts are whole", () => {
  assert.equal(Object.keys(facts).length, 21);
  const count = (kind) => Object.values(facts).reduce((sum, contract) => sum + contract[kind].length, 0);
  assert.deepEqual([count("events"), count("functions"), count("errors")], [104, 329, 183]);
});

for (const [name, contract] of Object.entries(facts)) {
  test(`${name} has the events of the facts, with their names and indexes`, () => {
    compare(name, of(name, "event").map(eventFact), contract.events, "topic0");
  });

  test(`${name} has the functions of the facts, with mutability and results`, () => {
    const expected = contract.functions.map((fact) => expectedFunction(name, fact));
    compare(name, of(name, "function").map(functionFact), expected, "selector");
  });

  test(`${name} has the errors of the facts`, () => {
    compare(name, of(name, "error").map(errorFact), contract.errors, "selector");
  });

  test(`${name} has the structs of the facts, in their order`, () => {
    const tuples = of(name, "function").flatMap((item) => [...item.inputs, ...item.outputs]);
    for (const [struct, fields] of Object.entries(contract.structs)) {
      const tuple = tuples.find((parameter) => parameter.internalType?.replace("[]", "").endsWith(`${struct}`));
      if (tuple?.components) {
        assert.deepEqual(tuple.components.map(({ name, type }) => ({ name, type })), fields, struct);
      } else {
        // A public mapping gives the fields one by one.
        const getter = of(name, "function").find((item) => types(item.outputs) === fields.map((f) => f.type).join(","));
        assert.deepEqual(getter?.outputs.map(({ name, type }) => ({ name, type })), fields, struct);
      }
    }
  });
}
