// Ends a program together with the one that started it, however that ends.

const PARENT_LOOK_MS = 300;

/** A process whose parent has ended gets another one. */
export function whenParentEnds(tell) {
  const parent = process.ppid;
  const timer = setInterval(() => process.ppid !== parent && tell(), PARENT_LOOK_MS);
  timer.unref();
}
