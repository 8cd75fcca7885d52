/** A part of a queue's order: places of one priority after `after`, up to and including `upTo`. */
export interface ScanRange {
  readonly priority: number;
  readonly after: bigint;
  readonly upTo: bigint;
}

/** A job's place in the order of its queue. */
export interface Place {
  readonly priority: number;
  readonly seq: bigint;
}

/** What a claim found in the ranges it scanned. */
export interface ScanResult {
  /** The jobs' places, in the order in which the ranges were scanned. */
  readonly claimed: readonly Place[];
  /** Whether every range was scanned to its end. */
  readonly exhausted: boolean;
}

/**
 * How far back a scan begins. `hint`: behind the last job claimed, which is cheapest. `floor`: behind the last place up to which
 * everything was visible and scanned, which also finds jobs whose transactions committed in another order than they began.
 */
export type ScanStart = 'hint' | 'floor';

const lastSeq = 2n ** 63n - 1n;

/**
 * Where one server's scan of one queue goes on, so that its cost does not grow with the dead index entries of finished jobs that
 * a long transaction elsewhere keeps from being vacuumed.
 */
export class ScanCursor {
  readonly #hints = new Map<number, bigint>();
  readonly #floors = new Map<number, bigint>();
  #gaps: ScanRange[] = [];

  /** @param priorities all that jobs of this queue may have, as far as is known; everything of each is still to be scanned */
  constructor(priorities: Iterable<number>) {
    this.learn(priorities);
  }

  /** Priorities that this cursor does not know yet are scanned from the beginning. */
  learn(priorities: Iterable<number>): void {
    for (const priority of priorities) {
      if (this.#hints.has(priority)) continue;
      this.#hints.set(priority, 0n);
      this.#floors.set(priority, 0n);
    }
  }

  /** Places that became ready or visible behind the cursor. */
  addGap(gap: ScanRange): void {
    this.learn([gap.priority]);
    if (gap.after >= (this.#hints.get(gap.priority) ?? 0n)) return; // the scan comes to it anyway
    this.#gaps.push(gap);
  }

  /** Whether a job at this place may have been passed. */
  hasPassed({ priority, seq }: Place): boolean {
    const hint = this.#hints.get(priority);
    return hint === undefined || seq <= hint;
  }

  /** What to scan, in the order in which jobs run. */
  ranges(start: ScanStart): ScanRange[] {
    const positions = start === 'hint' ? this.#hints : this.#floors;
    const open = [...positions].map(([priority, after]) => ({ priority, after, upTo: lastSeq }));
    const gaps = this.#gaps.filter(({ priority, after }) => after < (positions.get(priority) ?? 0n));
    return [...gaps, ...open].toSorted(
      (one, other) => one.priority - other.priority || (one.after < other.after ? -1 : 1),
    );
  }

  /**
   * Notes what a scan of `ranges` gave.
   *
   * @param visible the place up to which everything was visible when the scan began
   */
  advance(start: ScanStart, { claimed, exhausted }: ScanResult, visible: bigint): void {
    for (const { priority, seq } of claimed) raise(this.#hints, priority, seq);
    const last = exhausted ? undefined : claimed.at(-1);
    if (!exhausted && last === undefined) return; // nothing is known of what was scanned
    const isScanned = (gap: ScanRange): boolean =>
      last === undefined ||
      gap.priority < last.priority ||
      (gap.priority === last.priority && gap.upTo <= last.seq);
    this.#gaps = this.#gaps.filter((gap) => !isScanned(gap));
    for (const priority of this.#floors.keys()) {
      if (last === undefined || priority < last.priority) {
        raise(this.#hints, priority, visible);
        if (start === 'floor') raise(this.#floors, priority, visible);
      } else if (priority === last.priority && start === 'floor') {
        raise(this.#floors, priority, last.seq < visible ? last.seq : visible);
      }
    }
  }
}

function raise(places: Map<number, bigint>, priority: number, seq: bigint): void {
  if (seq > (places.get(priority) ?? -1n)) places.set(priority, seq);
}
