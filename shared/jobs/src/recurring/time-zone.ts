/** A time as a clock on the wall shows it: milliseconds since 1970-01-01T00:00 on that clock. */
export type WallTime = number;

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * Length of the spans in which clocks are examined. Only their starts and ends are compared, so two changes in one span
 * that cancel each other out would go unnoticed.
 */
const spanMs = 144 * hourMs;

/** No clock is ahead of or behind UTC by more than this, or set forward or back by more. */
export const longestChangeMs = 26 * hourMs;

const offsetPattern = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

/** Creating a format takes 0.2 ms, so formats are kept. There are about 600 names, but callers may vary their case. */
const maxKept = 1_000;
const kept = new Map<string, TimeZone>();

/** How many spans are kept for each time zone: four years, 10 kB. */
const maxSpans = 256;

/** By how many milliseconds a clock is ahead of UTC from `at` on. */
interface Setting {
  readonly at: number;
  readonly offset: number;
}

/** The clock of a time zone: when it shows which time, and when it is set forward or back. */
export class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** The settings of the clock in each span, the first from its start on. The spans that were examined last are kept. */
  readonly #spans = new Map<number, readonly [Setting, ...Setting[]]>();

  private constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en', { timeZone: name, timeZoneName: 'longOffset' });
  }

  /** @throws {RangeError} if the runtime does not know the time zone */
  static of(name: string): TimeZone {
    const cachedZone = kept.get(name);
    if (cachedZone !== undefined) return cachedZone;
    if (kept.size >= maxKept) kept.clear();
    const zone = new TimeZone(name);
    kept.set(name, zone);
    return zone;
  }

  /** Returns by how many milliseconds the clock is ahead of UTC. */
  offsetAt(time: number): number {
    const span = this.#span(Math.floor(time / spanMs));
    return (span.findLast(({ at }) => at <= time) ?? span[0]).offset;
  }

  /**
   * Returns the times at which the clock is set forward or back, later than `from` and up to `until`, in ascending order.
   * Each is the first moment at which the clock shows its new time. Examines every span in between, so `from` and `until`
   * should be no more than days apart.
   */
  changesBetween(from: number, until: number): number[] {
    const changes: number[] = [];
    for (let index = Math.floor(from / spanMs); index * spanMs <= until; index++) {
      const [, ...later] = this.#span(index);
      for (const { at } of later) if (at > from && at <= until) changes.push(at);
    }
    return changes;
  }

  /** Returns the first moment at which the clock shows this time or a later one. */
  firstReaching(wall: WallTime): number {
    const earliest = wall - longestChangeMs;
    const starts = [earliest, ...this.changesBetween(earliest, wall + longestChangeMs)];
    for (const [index, start] of starts.entries()) {
      const time = Math.max(start, wall - this.offsetAt(start));
      if (time < (starts[index + 1] ?? Infinity)) return time;
    }
    throw new Error(`the clock never reaches ${wall}`);
  }

  #span(index: number): readonly [Setting, ...Setting[]] {
    const cachedSpan = this.#spans.get(index);
    if (cachedSpan !== undefined) return cachedSpan;
    const span = this.#examine(index * spanMs, (index + 1) * spanMs);
    if (this.#spans.size >= maxSpans) {
      const [oldest = index] = this.#spans.keys();
      this.#spans.delete(oldest);
    }
    this.#spans.set(index, span);
    return span;
  }

  /** Returns the settings of the clock from `start` (inclusive) to `end` (inclusive as well if the clock changes then). */
  #examine(start: number, end: number): readonly [Setting, ...Setting[]] {
    const settings: [Setting, ...Setting[]] = [{ at: start, offset: this.#read(start) }];
    const atEnd = this.#read(end);
    for (let last = settings[0]; last.offset !== atEnd;) {
      const at = this.#changeBetween(last.at, end, last.offset);
      last = { at, offset: at === end ? atEnd : this.#read(at) };
      settings.push(last);
    }
    return settings;
  }

  /** Returns the first second at which the offset is not `before`. */
  #changeBetween(from: number, until: number, before: number): number {
    let earlier = from / secondMs;
    let later = until / secondMs;
    while (later - earlier > 1) {
      const middle = Math.floor((earlier + later) / 2);
      if (this.#read(middle * secondMs) === before) earlier = middle;
      else later = middle;
    }
    return later * secondMs;
  }

  /** Reads the clock, which takes much longer than to look at what is known of its span. */
  #read(time: number): number {
    const [, sign, hours, minutes, seconds] = offsetPattern.exec(this.#format.format(time)) ?? [];
    const size =
      Number(hours ?? 0) * hourMs + Number(minutes ?? 0) * minuteMs + Number(seconds ?? 0) * secondMs;
    return sign === '-' ? -size : size;
  }
}
