/** A range of sequence numbers within one queue and priority. `after` is exclusive, `upTo` is inclusive. */
export interface ScanRange {
  readonly priority: number;
  readonly after: bigint;
  readonly upTo: bigint;
}

/** A job's position in its queue. */
export interface Place {
  readonly priority: number;
  readonly seq: bigint;
}

/** The result of scanning ranges for a claim. */
export interface ScanResult {
  /** Positions of the claimed jobs in scan order. Must include at least the last one of each priority. */
  readonly claimed: readonly Place[];
  /** Whether every range was scanned to its end. */
  readonly exhausted: boolean;
}

/**
 * Where a scan starts. `hint`: after the jobs that earlier scans found; this is the cheapest. `floor`: at an earlier
 * position, so that the scan also finds jobs whose transactions committed out of order.
 */
export type ScanStart = 'hint' | 'floor';

const lastSeq = 2n ** 63n - 1n;

/**
 * One server's position in one queue. Claims start there instead of at the head, because the head can have many dead
 * index entries of finished jobs. Vacuum cannot remove these entries while a long transaction is open.
 */
export class ScanCursor {
  readonly #hints = new Map<number, bigint>();
  readonly #floors = new Map<number, bigint>();
  #gaps: ScanRange[] = [];

  /** @param priorities the known priorities of the queue's jobs; each is scanned from the beginning */
  constructor(priorities: Iterable<number>) {
    this.learn(priorities);
  }

  /** Adds priorities; new ones are scanned from the beginning. Returns whether any were new. */
  learn(priorities: Iterable<number>): boolean {
    const sizeBefore = this.#hints.size;
    for (const priority of priorities) {
      if (this.#hints.has(priority)) continue;
      this.#hints.set(priority, 0n);
      this.#floors.set(priority, 0n);
    }
    return this.#hints.size > sizeBefore;
  }

  /** Adds a range to scan again, because jobs became ready or visible behind the cursor. */
  addGap(gap: ScanRange): void {
    this.learn([gap.priority]);
    if (gap.after >= (this.#hints.get(gap.priority) ?? 0n)) return; // not passed yet, so scans get there anyway
    this.#gaps.push(gap);
  }

  /** Returns whether the cursor has passed this place. Also true for an unknown priority, because no scan covers it. */
  hasPassed({ priority, seq }: Place): boolean {
    const hint = this.#hints.get(priority);
    return hint === undefined || seq <= hint;
  }

  /** Returns the ranges to scan, including gaps, by priority and then by sequence number. */
  ranges(start: ScanStart): ScanRange[] {
    const positions = start === 'hint' ? this.#hints : this.#floors;
    const open = [...positions].map(([priority, after]) => ({ priority, after, upTo: lastSeq }));
    const gaps = this.#gaps.filter(({ priority, after }) => after < (positions.get(priority) ?? 0n));
    return [...gaps, ...open].toSorted(
      (one, other) => one.priority - other.priority || (one.after < other.after ? -1 : 1),
    );
  }

  /**
   * Moves the cursor according to the result of a scan, and removes the gaps that were scanned.
   *
   * @param visible the sequence number up to which all jobs were visible when the scan began
   * @param ranges the scanned ranges; all current ranges by default. Must be given if gaps or priorities might have
   *   been added during the scan
   */
  advance(
    start: ScanStart,
    { claimed, exhausted }: ScanResult,
    visible: bigint,
    ranges: readonly ScanRange[] = this.ranges(start),
  ): void {
    const scanned = new Set(ranges);
    const priorities = new Set(ranges.map(({ priority }) => priority));
    for (const { priority, seq } of claimed) raise(this.#hints, priority, seq);
    const last = exhausted ? undefined : claimed.at(-1);
    if (!exhausted && last === undefined) return; // it is unknown which ranges were scanned
    const isScanned = (gap: ScanRange): boolean =>
      last === undefined ||
      gap.priority < last.priority ||
      (gap.priority === last.priority && gap.upTo <= last.seq);
    this.#gaps = this.#gaps.filter((gap) => !scanned.has(gap) || !isScanned(gap));
    for (const priority of priorities) {
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
