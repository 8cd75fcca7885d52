import { type HistoryBucket, Timing } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { highestShare, lowestShare } from '../src/diagnosis/share.js';
import { findSlowness, type Slowness } from '../src/diagnosis/slowness.js';
import { moments, randomOf, Score } from './synthetic-history.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A history of durations with a known truth. Times are in minutes. */
interface DurationHistory {
  readonly from: number;
  readonly rate: number;
  /** The median in milliseconds while all is well. */
  readonly medianMs: number;
  /** Durations are between the median divided by this, and the median multiplied by it. */
  readonly spread: number;
  /** How many times longer than usual some attempts take. */
  readonly factor: (minute: number) => number;
  /** The share of attempts to which the factor applies. */
  readonly part: number;
  /** When attempts get slower; `null` if they do not. */
  readonly slowFrom: number | null;
  readonly slowUntil: number;
}

type Draw = (random: () => number) => DurationHistory;
const pick = (random: () => number, least: number, most: number): number => least + random() * (most - least);
const pickScale = (random: () => number, least: number, most: number): number =>
  least * (most / least) ** random();

function slower(random: () => number, least: number): DurationHistory {
  const [slowFrom, times] = [pick(random, 0, 1), pickScale(random, least, 60)];
  const slowUntil = slowFrom + pickScale(random, 4, 90);
  return {
    from: -60 * pickScale(random, 2, 26),
    rate: pickScale(random, 5, 60),
    medianMs: pickScale(random, 20, 20_000),
    spread: pick(random, 1.2, 4),
    factor: (minute) => (minute >= slowFrom && minute < slowUntil ? times : 1),
    part: 1,
    slowFrom,
    slowUntil,
  };
}

const kinds: Readonly<Record<string, Draw>> = {
  'durations that stay the same': (random) => ({
    ...slower(random, 2),
    rate: pickScale(random, 0.2, 60),
    factor: () => 1,
    slowFrom: null,
  }),
  'a slow deployment': (random) => slower(random, 2),
  'a part that is slow': (random) => ({
    ...slower(random, 30),
    rate: pickScale(random, 20, 60),
    part: pick(random, 0.07, 0.4),
    spread: pick(random, 1.2, 3),
  }),
  'low traffic that gets slower': (random) => ({ ...slower(random, 2), rate: pickScale(random, 0.2, 5) }),
  'noisy durations': (random) => {
    const factors = Array.from({ length: 200 }, () => pickScale(random, 0.5, 2));
    const steps = pick(random, 1, 20);
    const history = slower(random, 2);
    const noise = (minute: number): number => factors[Math.abs(Math.floor(minute / steps)) % 200] ?? 1;
    return { ...history, factor: noise, slowFrom: null };
  },
  'a young type that gets slower': (random) => ({ ...slower(random, 2), from: -pickScale(random, 0.2, 40) }),
};

/** Draws the durations of each minute. */
function draw(history: DurationHistory, random: () => number): Map<number, Timing> {
  const minutes = new Map<number, Timing>();
  for (let slice = history.from * 6; slice < 121 * 6; slice++) {
    const minute = slice / 6;
    const of = Math.floor(history.rate / 6) + (random() < (history.rate / 6) % 1 ? 1 : 0);
    for (let attempt = 0; attempt < of; attempt++) {
      const factor = random() < history.part ? history.factor(minute) : 1;
      const start = Math.floor(minute);
      const timing = minutes.get(start) ?? new Timing();
      minutes.set(start, timing);
      timing.running.add(factor * history.medianMs * history.spread ** (2 * random() - 1));
    }
  }
  return minutes;
}

/** Returns what a read at a time returns. The last minute contains what has ended until its end. */
function readAt(minutes: ReadonlyMap<number, Timing>, minute: number): HistoryBucket[] {
  const minutesFrom = Math.floor(minute / 60) * 60 - 180;
  const buckets = new Map<number, HistoryBucket>();
  for (const [start, timing] of minutes) {
    if (start > minute || start < minutesFrom - 21 * 60) continue;
    const bucketMs = start < minutesFrom ? HOUR_MS : MINUTE_MS;
    const at = Math.floor((start * MINUTE_MS) / bucketMs) * bucketMs;
    const bucket = buckets.get(at) ?? { at: new Date(at), bucketMs, timing: new Timing() };
    buckets.set(at, bucket);
    bucket.timing.merge(timing);
  }
  return [...buckets.values()];
}

/** Returns what is wrong with a statement, given the truth. */
function faultsOf({ shift, quantile, ratio, baselineMs }: Slowness, history: DurationHistory): string[] {
  const { factor, part, medianMs, spread, slowUntil } = history;
  const isSlow = (fromMs: number, untilMs: number): boolean => {
    for (let minute = fromMs / MINUTE_MS; minute < untilMs / MINUTE_MS; minute += 1 / 6)
      if (factor(minute) >= 3 && part > 1 - quantile) return true;
    return false;
  };
  const { now, incident, state, baseline } = shift;
  const usualAt = (place: number): number => medianMs * spread ** (2 * place - 1);
  const [least, most] = [lowestShare, highestShare].map((bound) =>
    usualAt(bound({ hits: Math.round(quantile * baseline.of), of: baseline.of })),
  );
  const faults: string[] = [];
  if (!isSlow(incident.from, incident.until)) faults.push('was not slow');
  if (state === 'above' && !isSlow(now.from, now.until)) faults.push('is not slow now');
  if (state === 'recovering' && now.until / MINUTE_MS <= slowUntil) faults.push('does not recover');
  if (now.from / MINUTE_MS > slowUntil + 7 && now.of > 300) faults.push('is over');
  if (ratio < 2) faults.push(`is not slow: ${ratio}`);
  if (baselineMs < (least ?? 0) / 1.2 || baselineMs > (most ?? 0) * 1.2) faults.push('the baseline is off');
  return faults;
}

describe('what is said about the durations in synthetic histories', () => {
  for (const [index, [kind, drawHistory]] of Object.entries(kinds).entries()) {
    it(`is true: ${kind}`, function () {
      this.timeout(120_000);
      const score = new Score(kind);
      for (const seed of score.seeds(index)) {
        const random = randomOf(seed);
        const history = drawHistory(random);
        const minutes = draw(history, random);
        for (const minute of moments) {
          const found = findSlowness(readAt(minutes, minute), minute * MINUTE_MS);
          for (const slowness of found)
            score.add(`seed ${seed}, minute ${minute}, ${slowness.shift.state}`, faultsOf(slowness, history));
          const { slowFrom, slowUntil, rate, factor, medianMs, from } = history;
          const isDue =
            history.part === 1 &&
            slowFrom !== null &&
            minute > slowFrom + 5 &&
            minute < slowUntil &&
            rate >= 8 &&
            rate * (slowFrom - from) >= 200 &&
            factor(minute) >= 8 &&
            factor(minute) * medianMs >= 1_000;
          if (isDue) score.addDue(found.length > 0);
        }
      }
      score.print();
      expect(score.wrong).to.deep.equal([]);
      expect(score.missed).to.be.at.most(1 + 0.05 * score.due);
    });
  }
});
