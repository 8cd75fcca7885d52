import type { Tally } from '../src/diagnosis/change-points.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Returns a seeded generator of numbers from 0 to 1 (sfc32 by Chris Doty-Humphrey, public domain). The simpler mulberry32
 * is not random enough: among ten thousand histories, it drew shares that should occur once in ten million.
 */
export function randomOf(seed: number): () => number {
  let [one, two, three, count] = [seed | 0, 0x9e3779b9 | 0, 0x243f6a88, 1];
  const next = (): number => {
    const sum = (((one + two) | 0) + count) | 0;
    count = (count + 1) | 0;
    one = two ^ (two >>> 9);
    two = (three + (three << 3)) | 0;
    three = (((three << 21) | (three >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let skipped = 0; skipped < 15; skipped++) next();
  return next;
}

/** The minutes at which each history is judged. */
export const moments = [-20, -3, 1.2, 2.1, 3.4, 5.5, 8.3, 12.7, 20.5, 31.9, 47.2, 66.6, 95.1, 120.4];

/** Number of synthetic histories of each kind. */
const PER_KIND = 25;

/** Counts statements, and how many of them are wrong or missing. */
export class Score {
  readonly #kind: string;
  /** `HISTORIES=1000` judges that many histories of each kind, and prints the figures; `SEED=7` judges others. */
  readonly #histories = Number(process.env['HISTORIES'] ?? PER_KIND);
  readonly #seed = Number(process.env['SEED'] ?? 0);
  readonly wrong: string[] = [];
  statements = 0;
  due = 0;
  missed = 0;

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** Returns the seeds of the histories of a kind. */
  seeds(index: number): number[] {
    return Array.from({ length: this.#histories }, (_each, number) => this.#seed + index * 100_000 + number);
  }

  add(statement: string, faults: readonly string[]): void {
    this.statements++;
    this.wrong.push(...faults.map((fault) => `${statement}: ${fault}`));
  }

  addDue(isFound: boolean): void {
    this.due++;
    if (!isFound) this.missed++;
  }

  print(): void {
    if (process.env['HISTORIES'] === undefined) return;
    const figures = `${this.statements} statements, wrong: ${this.wrong.length}, missed: ${this.missed} of ${this.due}`;
    process.stdout.write(`${this.#kind}: ${this.#histories} histories, ${figures}\n`);
  }
}

/** A tally together with the truth that it was drawn from. */
export interface TrueTally extends Tally {
  /** The expected number of hits. Divided by `of`, it is the true share. */
  readonly expected: number;
}

/** A history with a known truth. Times are in minutes; the history ends at time 0 or later, and starts at `from`. */
export interface SyntheticHistory {
  readonly kind: string;
  readonly from: number;
  /** Attempts per minute. */
  readonly rate: (minute: number) => number;
  /** The probability that an attempt is a hit. */
  readonly share: (minute: number) => number;
  /** When the share rises at once; `null` if it does not. */
  readonly risesAt: number | null;
  /** When the share is back at its baseline for good; `null` if it is not. */
  readonly backAt: number | null;
  /** How far the clock is ahead, in minutes. */
  readonly clockAhead: (minute: number) => number;
}

/** Draws the attempts of a history, minute by minute, and adds them up as a storage does. */
export class DrawnHistory {
  readonly #drawn: { minute: number; at: number; hits: number; of: number; expected: number }[] = [];
  readonly #history: SyntheticHistory;
  #lastRead: { minute: number; tallies: TrueTally[] } = { minute: Number.NaN, tallies: [] };

  constructor(history: SyntheticHistory, until: number, random: () => number) {
    this.#history = history;
    // Six slices per minute, so that changes within a minute are seen.
    for (let slice = history.from * 6; slice < until * 6; slice++) {
      const minute = slice / 6;
      const wanted = history.rate(minute) / 6;
      const of = Math.floor(wanted) + (random() < wanted % 1 ? 1 : 0);
      if (of === 0) continue;
      const share = history.share(minute);
      let hits = 0;
      for (let attempt = 0; attempt < of; attempt++) if (random() < share) hits++;
      this.#drawn.push({ minute, at: minute + history.clockAhead(minute), hits, of, expected: of * share });
    }
  }

  /** Returns the time by the clock, in milliseconds. */
  clockAt(minute: number): number {
    return Math.round((minute + this.#history.clockAhead(minute)) * MINUTE_MS);
  }

  /** Returns what a read at a time returns: minutes of the last three hours, and hours before. */
  readAt(minute: number): TrueTally[] {
    if (this.#lastRead.minute !== minute) this.#lastRead = { minute, tallies: this.#read(minute) };
    return this.#lastRead.tallies;
  }

  #read(minute: number): TrueTally[] {
    const nowMs = this.clockAt(minute);
    const hour = Math.floor(nowMs / HOUR_MS) * HOUR_MS;
    const minutesFrom = hour - 3 * HOUR_MS;
    const tallies = new Map<number, TrueTally>();
    for (const { minute: drawnAt, at, hits, of, expected } of this.#drawn) {
      if (drawnAt >= minute || at * MINUTE_MS < hour - 24 * HOUR_MS) continue;
      const length = at * MINUTE_MS < minutesFrom ? HOUR_MS : MINUTE_MS;
      const start = Math.floor((at * MINUTE_MS) / length) * length;
      const tally = tallies.get(start) ?? { at: start, until: start + length, hits: 0, of: 0, expected: 0 };
      tallies.set(start, {
        ...tally,
        hits: tally.hits + hits,
        of: tally.of + of,
        expected: tally.expected + expected,
      });
    }
    return [...tallies.values()].toSorted((one, other) => one.at - other.at);
  }

  /**
   * Returns whether the minutes of the last ten that a clock shows were also shown before. They then hold attempts of
   * both times.
   */
  hasRepeatedMinutes(minute: number): boolean {
    const now = minute + this.#history.clockAhead(minute);
    return this.#drawn.some(({ minute: drawnAt, at }) => drawnAt < minute - 11 && at > now - 10);
  }

  /** Returns the number of attempts since a time, until another. */
  attempts(from: number, until: number): number {
    return this.#drawn.reduce((sum, { minute, of }) => sum + (minute >= from && minute < until ? of : 0), 0);
  }
}

type Draw = (random: () => number) => Omit<SyntheticHistory, 'kind'>;

const usual = { risesAt: null, backAt: null, clockAhead: () => 0 };
const pick = (random: () => number, least: number, most: number): number => least + random() * (most - least);
/** Draws a number whose logarithm is evenly distributed. */
const pickScale = (random: () => number, least: number, most: number): number =>
  least * (most / least) ** random();

/** A deployment at minute 0 that is rolled back after some minutes. */
function deployment(random: () => number, rate: number): Omit<SyntheticHistory, 'kind'> {
  const [low, high] = [pick(random, 0, 0.06), pick(random, 0.25, 1)];
  const risesAt = pick(random, 0, 1);
  const backAt = risesAt + pickScale(random, 4, 90);
  return {
    ...usual,
    from: -60 * pickScale(random, 2, 26),
    rate: () => rate,
    share: (minute) => (minute >= risesAt && minute < backAt ? high : low),
    risesAt,
    backAt,
  };
}

/** The kinds of synthetic histories. The interesting part begins at minute 0. */
export const kinds: Readonly<Record<string, Draw>> = {
  'steady failures': (random) => {
    const [rate, share] = [pickScale(random, 0.3, 300), pickScale(random, 0.001, 0.5)];
    return { ...usual, from: -60 * pickScale(random, 1, 26), rate: () => rate, share: () => share };
  },
  'a bad deployment': (random) => deployment(random, pickScale(random, 5, 300)),
  'low traffic': (random) => deployment(random, pickScale(random, 0.2, 5)),
  'traffic of a day': (random) => {
    const [history, peak] = [deployment(random, 1), pickScale(random, 10, 200)];
    return { ...history, rate: (minute) => peak * (0.55 + 0.45 * Math.sin((minute / 1_440) * 2 * Math.PI)) };
  },
  'a slow leak': (random) => {
    const [rate, minutes, high] = [pickScale(random, 3, 200), pick(random, 20, 120), pick(random, 0.4, 1)];
    const share = (minute: number): number => Math.min(high, 0.01 + Math.max(0, minute / minutes) * high);
    return { ...usual, from: -60 * pickScale(random, 2, 26), rate: () => rate, share };
  },
  'a burst of a minute': (random) => {
    const [rate, low, high] = [pickScale(random, 5, 300), pick(random, 0, 0.05), pick(random, 0.4, 1)];
    const share = (minute: number): number => (minute >= 0 && minute < 1 ? high : low);
    return { ...usual, from: -60 * pickScale(random, 2, 26), rate: () => rate, share, risesAt: 0, backAt: 1 };
  },
  'gaps in the traffic': (random) => {
    const [history, rate] = [deployment(random, 1), pickScale(random, 5, 200)];
    const [length, pause, shifted] = [pick(random, 10, 60), pick(random, 2, 40), pick(random, 0, 60)];
    const runs = (minute: number): boolean => (minute + 10_000 + shifted) % (length + pause) < length;
    return { ...history, rate: (minute) => (runs(minute) ? rate : 0) };
  },
  'a young installation': (random) => ({
    ...deployment(random, pickScale(random, 1, 100)),
    from: -pickScale(random, 0.2, 40),
  }),
  'a new type that fails': (random) => {
    const [rate, share] = [pickScale(random, 1, 100), pick(random, 0, 1)];
    return { ...usual, from: -pick(random, 0, 5), rate: () => rate, share: () => share };
  },
  'a type that always fails': (random) => {
    const [rate, share] = [pickScale(random, 1, 100), pick(random, 0.9, 1)];
    return { ...usual, from: -60 * pickScale(random, 1, 26), rate: () => rate, share: () => share };
  },
  'a clock that is set': (random) => {
    const history = deployment(random, pickScale(random, 5, 100));
    const [setAt, step] = [pick(random, -30, 30), pick(random, -15, 15)];
    return { ...history, clockAhead: (minute) => (minute < setAt ? 0 : step) };
  },
  'a noisy baseline': (random) => {
    const [rate, mean, isBad] = [pickScale(random, 3, 200), pick(random, 0.01, 0.15), random() < 0.5];
    const factors = Array.from({ length: 2_000 }, () => pickScale(random, 0.2, 2));
    const steps = pick(random, 1, 20);
    const high = pick(random, 0.6, 1);
    const share = (minute: number): number =>
      isBad && minute >= 0 ? high : mean * (factors[Math.floor((minute + 1_600) / steps)] ?? 1);
    return {
      ...usual,
      from: -60 * pickScale(random, 3, 26),
      rate: () => rate,
      share,
      risesAt: isBad ? 0 : null,
    };
  },
  'an earlier anomaly': (random) => {
    const history = deployment(random, pickScale(random, 5, 200));
    const [earlier, minutes, high] = [pick(random, -170, -40), pick(random, 3, 30), pick(random, 0.3, 1)];
    const wasBad = (minute: number): boolean => minute >= earlier && minute < earlier + minutes;
    return {
      ...history,
      from: -60 * pickScale(random, 5, 26),
      share: (minute) => (wasBad(minute) ? high : history.share(minute)),
    };
  },
  'the last of several anomalies': (random) => {
    const history = deployment(random, pickScale(random, 20, 200));
    const high = pick(random, 0.3, 1);
    const earlier: { readonly from: number; readonly until: number }[] = [];
    // After less time, the earlier anomaly may not be over.
    let until = -pickScale(random, 5, 20);
    for (let count = Math.floor(pick(random, 1, 5)); count > 0; count--) {
      const from = until - pickScale(random, 2, 15);
      earlier.push({ from, until });
      until = from - pickScale(random, 2, 20);
    }
    const wasBad = (minute: number): boolean =>
      earlier.some((anomaly) => minute >= anomaly.from && minute < anomaly.until);
    return {
      ...history,
      from: until - pickScale(random, 3, 1_200),
      share: (minute) => (wasBad(minute) ? high : history.share(minute)),
    };
  },
  'half of a roll-back': (random) => {
    const history = deployment(random, pickScale(random, 5, 200));
    const part = pick(random, 0.2, 0.7);
    const { backAt, share } = history;
    const left = part * share(backAt === null ? 0 : backAt - 0.01);
    return { ...history, backAt: null, share: (minute) => (minute >= (backAt ?? 0) ? left : share(minute)) };
  },
  'a second anomaly, after much of what is known': (random) => {
    const history = deployment(random, pickScale(random, 20, 200));
    const [earlier, minutes, high] = [pick(random, -20, -12), pick(random, 3, 7), pick(random, 0.3, 1)];
    const wasBad = (minute: number): boolean => minute >= earlier && minute < earlier + minutes;
    return {
      ...history,
      from: earlier - pick(random, 3, 8),
      share: (minute) => (wasBad(minute) ? high : history.share(minute)),
    };
  },
};
