/** A time as a clock on the wall shows it: milliseconds since 1970-01-01T00:00 on that clock. */
export type WallTime = number;

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Clocks are compared at this interval. Two changes in one interval that cancel each other out would go unnoticed. */
const probeMs = 144 * hourMs;

const offsetPattern = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Creating a format takes 0.2 ms, so formats are kept. There are about 600 names, but callers may vary their case. */
const maxKept = 1_000;
const kept = new Map<string, TimeZone>();

/** The clock of a time zone: when it shows which time, and when it is set forward or back. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** @throws {RangeError} if the runtime does not know the time zone */
  static of(name: string): TimeZone {
    const known = kept.get(name);
    if (known !== undefined) return known;
    if (kept.size >= maxKept) kept.clear();
    const zone = new TimeZone(name);
    kept.set(name, zone);
    return zone;
  }

  /** Returns by how many milliseconds the clock is ahead of UTC. */
  offsetAt(time: number): number {
    const [, sign, hours, minutes, seconds] = offsetPattern.exec(this.#format.format(time)) ?? [];
    const size =
      Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs + Number(seconds ?? 0) * secondMs;
    return sign === '-' ? -size : size;
  }

  /**
   * Returns the times at which the clock is set forward or back, later than `from` and up to `until`, in ascending order.
   * Each is the first moment at which the clock shows its new time.
   */
  changesBetween(from: number, until: number): number[] {
    const changes: number[] = [];
    let start = from;
    let before = this.offsetAt(start);
    while (start < until) {
      const end = Math.min(start + probeMs, until);
      const after = this.offsetAt(end);
      if (after !== before) changes.push(this.#changeBetween(start, end, before));
      start = end;
      before = after;
    }
    return changes;
  }

  /** Returns the first second at which the offset is not `before`. */
  #changeBetween(from: number, until: number, before: number): number {
    let earlier = Math.floor(from / secondMs);
    let later = Math.ceil(until / secondMs);
    while (later - earlier > 1) {
      const middle = Math.floor((earlier + later) / 2);
      if (this.offsetAt(middle * secondMs) === before) earlier = middle;
      else later = middle;
    }
    return later * secondMs;
  }
}
