// Reproducible random numbers: the same for the same seed, on every machine.

export class Random {
  #state;

  constructor(seed) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1), by mulberry32. */
  next() {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From 0 to `limit` - 1. */
  below(limit) {
    return Math.floor(this.next() * limit);
  }

  pick(list) {
    return list[this.below(list.length)];
  }

  /** Small indexes far more often than large ones, as with agents that everybody knows. */
  popular(limit) {
    return Math.floor(limit * this.next() ** 3);
  }

  /** So many cards of a deck of [card, weight]: first one of each kind, so that none is missing, then by weight. */
  deal(deck, count) {
    const total = deck.reduce((sum, [, weight]) => sum + weight, 0);
    const cards = deck.map(([card]) => card).slice(0, count);
    while (cards.length < count) {
      let at = this.next() * total;
      cards.push(deck.find(([, weight]) => (at -= weight) < 0)?.[0] ?? deck[0][0]);
    }
    return cards;
  }
}
