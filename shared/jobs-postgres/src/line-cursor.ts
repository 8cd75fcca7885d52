/** A full look is repeated at the earliest after this, and after 20 times as long as the last one took. */
const minPauseMs = 200;
const pauseFactor = 20;

/**
 * Where a queue's next ready jobs are likely to stand: behind the last one claimed, in each priority. A cursor can miss a
 * job (one that was given back, one whose transaction committed late, one of a new priority), so a look from the head of
 * the line follows whenever one behind the cursor finds nothing, and regularly in any case.
 */
export class LineCursor {
  readonly #seqs = new Map<number, bigint>();
  #lookedAt = -Infinity;
  #lookTookMs = 0;

  /** Whether to look from the head, given that looking behind the cursor is possible. */
  headIsDue(nowMs: number): boolean {
    if (this.#seqs.size === 0) return true;
    return nowMs - this.#lookedAt >= Math.max(minPauseMs, this.#lookTookMs * pauseFactor);
  }

  /** Whether a look from the head is worth its price after one behind the cursor found nothing. */
  headIsCheap(nowMs: number): boolean {
    return nowMs - this.#lookedAt >= this.#lookTookMs * pauseFactor;
  }

  lookedFromHead(startedMs: number, endedMs: number): void {
    this.#lookedAt = endedMs;
    this.#lookTookMs = endedMs - startedMs;
  }

  advance(priority: number, seq: bigint): void {
    const reached = this.#seqs.get(priority);
    if (reached === undefined || seq > reached) this.#seqs.set(priority, seq);
  }

  /** Parallel arrays, in the order in which the priorities run. */
  positions(): { priorities: number[]; seqs: string[] } {
    const positions = [...this.#seqs].toSorted(([left], [right]) => left - right);
    return {
      priorities: positions.map(([priority]) => priority),
      seqs: positions.map(([, seq]) => seq.toString()),
    };
  }
}
