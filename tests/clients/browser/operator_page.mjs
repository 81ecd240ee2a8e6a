// Uses the operator's page as a person does, in headless Chromium: looks, clicks, and watches things happen.
// Usage: node operator_page.mjs ADMIN_URL API_URL PICTURE. Prints a line per step; "following" asks for a signed write from outside.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const [admin, api, picture] = process.argv.slice(2);
const LIMIT_MS = 60_000;
const profile = await mkdtemp(join(tmpdir(), "operator-page-"));
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  viewport: { width: 1440, height: 1000 },
});

try {
  const page = await browser.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
  });

  const row = (plugin) => page.locator(`tr[data-plugin="${plugin}"]`);
  const shows = (plugin, state) => row(plugin).getByText(state, { exact: true }).waitFor();
  const click = (plugin, action) => page.getByRole("button", { name: `${action} ${plugin}`, exact: true }).click();
  const question = (text) => page.getByRole("dialog", { name: text });
  const confirm = async (text) => question(text).getByRole("button", { name: "yes", exact: true }).click();
  const said = (text) => page.locator("#said", { hasText: text }).waitFor();
  const status = async (path) => (await fetch(`${api}${path}`)).status;

  /** What axe finds hard to use for somebody who sees, hears or points otherwise. */
  async function assertAccessible() {
    const { violations } = await new AxeBuilder({ page }).analyze();
    const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
    assert.deepEqual(told, []);
  }

  await page.goto(admin);
  await shows("hello", "serving");
  await shows("forum", "serving");
  await shows("hostile", "fenced");
  await page.evaluate(() => (window.opened = true));
  assert.match(await row("hostile").innerText(), /panic in panic_at_once/, "the last error is told");
  assert.match(await row("hello").innerText(), /\d ms/, "latency is told");
  assert.match(await page.locator("tr", { hasText: "prune_guests" }).innerText(), /20\d\d-/, "the next run is told");
  await page.getByRole("img", { name: /^Requests per second: .* now, at most / }).waitFor();
  await page.getByRole("img", { name: /^Latency: half within .*\d ms/ }).waitFor();
  assert.equal(await page.locator("section", { has: page.getByRole("heading", { name: "Bounds" }) }).count(), 1, "the last section stays");
  await assertAccessible();
  console.log("looked");

  await click("hello", "disable");
  await question("disable hello?").getByRole("button", { name: "no", exact: true }).click();
  await click("hello", "disable");
  assert.equal(await status("/api/hello/world"), 200, "not before it is confirmed");
  await assertAccessible();
  await confirm("disable hello?");
  await said("hello is disabled");
  await shows("hello", "disabled");
  assert.equal(await status("/api/hello/world"), 404);
  await click("hello", "enable");
  await confirm("enable hello?");
  await said("hello is serving");
  await shows("hello", "serving");
  assert.equal(await status("/api/hello/world"), 200);
  console.log("switched");

  assert.equal(await status("/api/hostile/rows"), 503);
  await click("hostile", "resume");
  await confirm("resume hostile?");
  await said("hostile is serving");
  await shows("hostile", "serving");
  assert.equal(await status("/api/hostile/rows"), 200);
  console.log("resumed");

  // A switch of a plugin's own.
  const paused = page.locator("tr", { hasText: "paused on the operator's page" });
  await click("payin all-chains", "pause");
  await confirm("pause payin all-chains?");
  await said("payin all-chains is paused");
  await paused.waitFor();
  await page.screenshot({ path: picture.replace(".png", "-paused.png"), fullPage: true });
  await click("payin all-chains", "resume");
  await confirm("resume payin all-chains?");
  await said("payin all-chains is running");
  await paused.waitFor({ state: "detached" });
  console.log("paused");

  // What a plugin derived from the chain, once more.
  const indexes = page.locator("section", { has: page.getByRole("heading", { name: "Indexes" }) });
  await indexes.locator("tr", { hasText: "agents" }).getByText("following", { exact: true }).waitFor();
  for (const name of ["Chains", "Sending accounts", "Unfinished transactions"]) {
    assert.equal(await page.getByRole("heading", { name, exact: true }).count(), 1, `${name} are shown`);
  }
  await click("agents", "reindex");
  await confirm("reindex agents?");
  await said("agents is serving");
  await indexes.locator("tr", { hasText: "agents" }).getByText("following", { exact: true }).waitFor();
  console.log("indexed");

  await page.getByRole("button", { name: "log debug", exact: true }).click();
  await said("the log level is debug until the next start");
  await page.locator("section", { has: page.getByRole("heading", { name: "Log", exact: true }) }).getByText("debug").first().waitFor();
  console.log("logged");

  // New events appear without a reload.
  assert.equal(await page.getByText("thread.create").count(), 0);
  console.log("following");
  await page.getByText("thread.create").first().waitFor();
  assert.equal(await page.evaluate(() => window.opened), true, "without loading the page again");

  // The page also works by keyboard alone, on a small screen.
  await page.screenshot({ path: picture, fullPage: true });
  await page.setViewportSize({ width: 390, height: 844 });
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent);
  for (let tabs = 0; (await focused()) !== "disable forum"; tabs++) {
    assert.ok(tabs < 200, "Tab leads to every button");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await question("disable forum?").waitFor();
  await assertAccessible();
  await page.keyboard.press("Escape");
  await question("disable forum?").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "disable forum", exact: true }).focus();
  await page.keyboard.press("Enter");
  await question("disable forum?").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await said("forum is disabled");
  await page.getByRole("button", { name: "enable forum", exact: true }).focus();
  await page.keyboard.press("Enter");
  await question("enable forum?").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await said("forum is serving");
  await assertAccessible();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert.ok(overflow <= 0, `the page is ${overflow} px wider than the screen`);
  await page.screenshot({ path: picture.replace(".png", "-small.png"), fullPage: true });

  assert.deepEqual(await page.evaluate(() => window.violations), [], "the content policy holds");
  assert.deepEqual(complaints, [], "the browser has nothing to complain about");
  console.log("done");
} finally {
  await browser.close();
  await rm(profile, { recursive: true, force: true });
}
