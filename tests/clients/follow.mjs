// Follows a stream until it is killed: `node follow.mjs URL`. Prints `open`, `gone`, and a line for each event: its id,
// its type, the thread it is about.

import { EventSource } from "eventsource";

const source = new EventSource(process.argv[2]);
let isOpen = false;
source.addEventListener("open", () => {
  isOpen = true;
  console.log("open");
});
source.addEventListener("error", () => {
  if (source.readyState === EventSource.CLOSED) throw new Error("the client has given up");
  // While the gateway is away every attempt is an error; only the first one is printed.
  if (isOpen) console.log("gone");
  isOpen = false;
});
for (const type of ["thread.create", "post.create"]) {
  source.addEventListener(type, ({ lastEventId, data }) => {
    console.log(lastEventId, type, JSON.parse(data).data.threadId);
  });
}
