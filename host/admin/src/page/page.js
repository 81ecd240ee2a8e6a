// Sends what the buttons say, shows what came of it, and keeps the page up to date.
"use strict";

const EVERY_MS = 2000;
const live = document.getElementById("live");
const said = document.getElementById("said");
const dialog = document.getElementById("confirm");
let acting = false;
let pressing = false;
let lost = false;

/** Changes what is different and nothing else: what is held, scrolled or focused stays as it is. */
function update(shown, next) {
  if (shown.isEqualNode(next)) return;
  const alike =
    shown.childNodes.length > 0 &&
    shown.childNodes.length === next.childNodes.length &&
    shown.cloneNode(false).isEqualNode(next.cloneNode(false));
  if (!alike) return shown.replaceWith(next);
  const parts = [...next.childNodes];
  [...shown.childNodes].forEach((part, index) => update(part, parts[index]));
}

async function refresh() {
  const answer = await fetch("/", { cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("live");
  if (!answer.ok || !next) throw new Error(`status ${answer.status}`);
  if (lost) said.textContent = "";
  lost = false;
  const held = document.activeElement?.dataset?.plugin && { ...document.activeElement.dataset };
  // Same-origin markup in which all foreign text is escaped; scripts in parsed documents do not run.
  const parts = [...next.childNodes];
  // A section appears when it has something to say.
  if (parts.length === live.childNodes.length) [...live.childNodes].forEach((part, index) => update(part, parts[index]));
  else live.replaceChildren(...parts);
  if (held && !live.contains(document.activeElement)) {
    const isHeld = ({ dataset }) => dataset.plugin === held.plugin && dataset.control === held.control;
    [...live.querySelectorAll("button")].find(isHeld)?.focus();
  }
}

function tellLost(error) {
  lost = true;
  said.textContent = `No answer from the gateway (${error.message}): what stands here is old.`;
}

/** Whether the operator means it. Escape and the first button say no. */
function isMeant(action, name) {
  document.getElementById("question").textContent = `${action} ${name}?`;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

async function setLogLevel(level) {
  acting = true;
  try {
    const answer = await fetch("/log-level", { method: "PUT", headers: { "X-Gateway-Admin": "1" }, body: level });
    said.textContent = answer.ok ? `the log level is ${level} until the next start` : (await answer.json()).error;
    await refresh();
  } catch (error) {
    tellLost(error);
  }
  acting = false;
}

async function act(button) {
  const { action, plugin, control } = button.dataset;
  const name = control ? `${plugin} ${control}` : plugin;
  if (!(await isMeant(action, name))) return;
  const parts = control ? ["plugins", plugin, "controls", control, action] : ["plugins", plugin, action];
  acting = true;
  for (const other of live.querySelectorAll("button")) other.disabled = true;
  said.textContent = `${action} ${name} …`;
  try {
    const answer = await fetch(`/${parts.map(encodeURIComponent).join("/")}`, {
      method: "POST",
      headers: { "X-Gateway-Admin": "1" },
    });
    const report = await answer.json();
    const why = report.reason ? `: ${report.reason}` : "";
    said.textContent = report.state ? `${name} is ${report.state}${why}` : report.error;
    await refresh();
  } catch (error) {
    tellLost(error);
  }
  for (const other of live.querySelectorAll("button")) other.disabled = false;
  acting = false;
}

live.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button && !acting) act(button);
  const level = event.target.closest("button[data-log-level]");
  if (level && !acting) setLogLevel(level.dataset.logLevel);
});
for (const answer of dialog.querySelectorAll("button")) {
  answer.addEventListener("click", () => dialog.close(answer.value));
}
// A button must not go away between press and release.
document.addEventListener("pointerdown", () => (pressing = true));
for (const end of ["pointerup", "pointercancel", "blur"]) window.addEventListener(end, () => (pressing = false));

setInterval(() => {
  const reading = !document.getSelection()?.isCollapsed;
  if (acting || pressing || reading || dialog.open || document.hidden) return;
  refresh().catch(tellLost);
}, EVERY_MS);
