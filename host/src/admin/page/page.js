// Sends what the buttons say, shows what came of it, and keeps the page up to date.
"use strict";

const EVERY_MS = 5000;
const live = document.getElementById("live");
const said = document.getElementById("said");
let acting = false;

async function refresh() {
  const answer = await fetch("/", { cache: "no-store" });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const next = page.getElementById("live");
  // Same-origin markup in which all foreign text is escaped; scripts in parsed documents do not run.
  if (answer.ok && next && next.innerHTML !== live.innerHTML) {
    const held = document.activeElement?.dataset?.plugin;
    live.replaceChildren(...next.childNodes);
    if (held) [...live.querySelectorAll("button")].find((button) => button.dataset.plugin === held)?.focus();
  }
}

async function act(button) {
  const { action, plugin } = button.dataset;
  acting = true;
  for (const other of live.querySelectorAll("button")) other.disabled = true;
  said.textContent = `${action} ${plugin} …`;
  try {
    const answer = await fetch(`/plugins/${encodeURIComponent(plugin)}/${action}`, {
      method: "POST",
      headers: { "X-Gateway-Admin": "1" },
    });
    const report = await answer.json();
    const why = report.reason ? `: ${report.reason}` : "";
    said.textContent = report.state ? `${plugin} is ${report.state}${why}` : report.error;
  } catch (error) {
    said.textContent = `No answer from the gateway (${error.message}).`;
  }
  await refresh().catch(() => {});
  for (const other of live.querySelectorAll("button")) other.disabled = false;
  acting = false;
}

live.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-action]");
  if (button && !acting) act(button);
});

setInterval(() => {
  const reading = !document.getSelection()?.isCollapsed;
  if (acting || reading || document.hidden) return;
  refresh().catch((error) => (said.textContent = `No answer from the gateway (${error.message}).`));
}, EVERY_MS);
