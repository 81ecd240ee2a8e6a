// Renders badges (SVG) with resvg and looks at the pixels.
//
//     node badges.mjs < question.json
//
// The question: `badges`, of which each is {what, svg}. Prints {what, width, height, colours, texts} for each: `texts` are the boxes of its texts
// as resvg lays them out with DejaVu Sans, [left, top, right, bottom]. Fails for a badge that is no SVG, or that names something outside.
import { strict as assert } from "node:assert";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { Resvg } from "@resvg/resvg-js";

const font = (name) => createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`);
const options = {
  font: { loadSystemFonts: false, fontFiles: [font("DejaVuSans"), font("DejaVuSans-Bold")], defaultFontFamily: "DejaVu Sans" },
};
const TEXT = /<text [^>]*>[^<]*<\/text>/g;

function look({ what, svg }) {
  const badge = new Resvg(svg, options);
  assert.deepEqual(badge.imagesToResolve(), [], what);
  const { width, height, pixels } = badge.render();
  const colours = new Set();
  for (let at = 0; at < pixels.length; at += 4) colours.add(pixels.readUInt32BE(at));
  const texts = svg.match(TEXT).map((element) => box(svg, element));
  return { what, width, height, colours: colours.size, texts };
}

/** The box of one text, measured on a ground that is too large for it, without all else. */
function box(svg, element) {
  const [, attributes] = svg.match(/<g ([^>]*)>/);
  const alone = `<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="100"><g ${attributes}>${element}</g></svg>`;
  const found = new Resvg(alone, options).getBBox();
  return found && [found.x, found.y, found.x + found.width, found.y + found.height].map((edge) => Math.round(edge * 10) / 10);
}

const { badges } = JSON.parse(await text(process.stdin));
console.log(JSON.stringify(badges.map(look)));
