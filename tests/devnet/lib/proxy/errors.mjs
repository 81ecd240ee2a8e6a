// Errors as nodes and providers word them, because clients recognise some by their text.

export class JsonRpcError extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

export const underpriced = (tip, minWei) =>
  new JsonRpcError(-32000, `transaction underpriced: gas tip cap ${tip}, minimum needed ${minWei}`);
export const replacementUnderpriced = () => new JsonRpcError(-32000, "replacement transaction underpriced");
export const alreadyKnown = () => new JsonRpcError(-32000, "already known");
export const beyondHead = () => new JsonRpcError(-32000, "block range extends beyond current head block");

const quantity = (number) => `0x${number.toString(16)}`;

/** A range of blocks that is too wide, in the words of a provider. */
export function rangeTooWide(style, max, from) {
  const fits = `[${quantity(from)}, ${quantity(from + Math.max(max, 1) - 1)}]`;
  const [code, message] = {
    infura: [-32005, `query exceeds max block range ${max}. Try with this block range ${fits}.`],
    alchemy: [
      -32600,
      `You can make eth_getLogs requests with up to a ${max} block range. ` +
        `Based on your parameters, this block range should work: ${fits}`,
    ],
    quicknode: [-32614, `eth_getLogs is limited to a ${max} range`],
    ankr: [-32600, "block range is too wide"],
    bsc: [-32005, `exceed maximum block range: ${max}`],
    geth: [-32000, `block range greater than ${max} max`],
  }[style];
  return new JsonRpcError(code, message);
}

/** Too many logs in a range that begins at this block. */
export function tooManyResults(style, max, from, to) {
  const half = from + Math.max(0, Math.floor((to - from) / 2));
  const fits = `[${quantity(from)}, ${quantity(half)}]`;
  const [code, message] = {
    infura: [-32005, `query returned more than ${max} results. Try with this block range ${fits}.`],
    alchemy: [-32602, `Log response size exceeded. this block range should work: ${fits}`],
    quicknode: [-32602, `eth_getLogs returned too many results: the limit is ${max}`],
    ankr: [-32005, "query returned more than the allowed number of results"],
    bsc: [-32005, "query returned more than 10000 results"],
    geth: [-32000, `query exceeds limit of ${max} results`],
  }[style];
  return new JsonRpcError(code, message);
}
