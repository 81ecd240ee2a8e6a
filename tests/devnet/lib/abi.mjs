// How an ABI is written as in facts/: names, types, who may call it, what it gives back.
import { toEventSelector, toFunctionSelector } from "viem";

/** Struct types as one word, so that signatures can be compared: (address,uint256)[] for a tuple array. */
export function typeOf(parameter) {
  if (!parameter.type.startsWith("tuple")) return parameter.type;
  return `(${parameter.components.map(typeOf).join(",")})${parameter.type.slice("tuple".length)}`;
}

export function types(parameters) {
  return parameters.map(typeOf).join(",");
}

export function eventFact(item) {
  const parameters = item.inputs.map((input) => `${typeOf(input)}${input.indexed ? " indexed" : ""} ${input.name}`);
  return { topic0: toEventSelector(item), signature: `${item.name}(${parameters.join(", ")})` };
}

export function functionFact(item) {
  return {
    selector: toFunctionSelector(item),
    call: `${item.name}(${types(item.inputs)})`,
    mutability: item.stateMutability,
    returns: types(item.outputs),
  };
}

export function errorFact(item) {
  const parameters = item.inputs.map((input) => `${typeOf(input)} ${input.name}`);
  return { selector: toFunctionSelector(item), signature: `${item.name}(${parameters.join(", ")})` };
}
