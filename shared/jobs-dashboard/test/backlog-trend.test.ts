import { expect } from 'chai';
import { BacklogOutlooks, emptyBetween } from '../src/diagnosis/backlog-outlook.js';
import { type BacklogTrend, trendOf } from '../src/diagnosis/backlog-trend.js';
import { noBlockingKeys } from '../src/diagnosis/blocking-keys.js';
import type { BacklogSample } from '../src/reading/backlog-samples.js';
import { type History, play, Random } from './backlog-histories.js';
import { queue, read, server } from './situation.js';

/** Another number of histories and another first seed: `HISTORIES=100000 SEED=7`. */
const histories = Number(process.env['HISTORIES'] ?? 4_000);
const firstSeed = Number(process.env['SEED'] ?? 0);

/** Only jobs that come or go together at least this often within the period have a mean rate that it shows. */
const MANY = 24;
/** A change of direction shows after this many seconds. */
const TURNED_S = 20;

/** Everything that was said of all histories. Wrong statements are listed with the seed and second of each. */
class Judgement {
  points = 0;
  statements = 0;
  withDrainTime = 0;
  withDrainRange = 0;
  readonly wrongDirection: string[] = [];
  readonly wrongRate: string[] = [];
  readonly wrongOnAverage: string[] = [];
  readonly outdated: string[] = [];
  readonly wrongDrainTime: string[] = [];

  /** Asks for the trend at each sample of a history. */
  add(seed: number): void {
    const history = play(seed);
    let seen: readonly BacklogSample[] = [];
    let nowMs = 0;
    const outlooks = outlooksOf(
      () => seen,
      () => nowMs,
    );
    for (const [index, { atMs }] of history.samples.entries()) {
      seen = history.samples.slice(Math.max(0, index - 100), index + 1);
      nowMs = atMs;
      const trend = trendOf(seen, nowMs);
      this.points++;
      if (trend === null) continue;
      this.statements++;
      const start = history.seconds[history.samples.indexOf(trend.from)] ?? 0;
      const end = history.seconds[index] ?? 0;
      const where = `${seed} at ${end} s: ${trend.direction} by ${trend.perSecond} ± ${trend.uncertainty}`;
      this.#judgeRate(trend, history, { start, end, where });
      this.#judgeDrainTime(trend, shownMs(outlooks), rateIn(history.changed, start, end), where);
      this.#judgeDrainRange(trend, shownRange(outlooks), rateIn(history.changed, start, end), where);
    }
  }

  #judgeRate(
    { direction, perSecond, uncertainty }: BacklogTrend,
    history: History,
    { start, end, where }: { readonly start: number; readonly end: number; readonly where: string },
  ): void {
    const { changed, changedOnAverage } = history;
    const sign = { growing: 1, shrinking: -1, steady: 0 }[direction];
    const rate = rateIn(changed, start, end);
    if (sign * rate < 0) this.wrongDirection.push(where);
    if (Math.abs(perSecond - rate) > uncertainty) this.wrongRate.push(where);
    const average = rateIn(changedOnAverage, start, end);
    const isOff = Math.abs(perSecond - average) > uncertainty;
    if (isOff && isShown(history, start, end)) this.wrongOnAverage.push(where);
    const latest = rateIn(changed, Math.max(0, end - TURNED_S), end);
    if (sign * latest < -uncertainty) this.outdated.push(where);
  }

  /** @param leftMs the time that is shown until the queue is empty */
  #judgeDrainTime(trend: BacklogTrend, leftMs: number | null, rate: number, where: string): void {
    if (leftMs === null) return;
    this.withDrainTime++;
    const range = emptyBetween(trend);
    const { atMs, ready } = trend.to;
    const [least, most] = [(range?.earliestMs ?? 0) - atMs, (range?.latestMs ?? 0) - atMs];
    const trueMs = (1_000 * ready) / -rate;
    // What is shown is rounded by a tenth at most, or to multiples of five seconds.
    const isShownRight = leftMs >= least / 1.1 - 2_500 && leftMs <= most * 1.1 + 2_500;
    if (!isShownRight || trueMs < least || trueMs > most) this.wrongDrainTime.push(where);
  }

  /** @param range the least and the most time that is shown until the queue is empty */
  #judgeDrainRange(
    { to }: BacklogTrend,
    range: readonly [number, number] | null,
    rate: number,
    where: string,
  ): void {
    if (range === null) return;
    this.withDrainRange++;
    const trueMs = (1_000 * to.ready) / -rate;
    if (trueMs < range[0] || trueMs > range[1]) this.wrongDrainTime.push(`${where}: ${range.join(' to ')}`);
  }
}

function outlooksOf(of: () => readonly BacklogSample[], now: () => number): BacklogOutlooks {
  return new BacklogOutlooks({ of: () => [...of()] }, now);
}

/** Returns what a page says of the queue in lists. */
function briefOf(outlooks: BacklogOutlooks): string {
  const consumers = [server({ heartbeatAt: new Date(8e15) })];
  const { brief } = outlooks.of(queue(), { consumers, blocking: noBlockingKeys, pausedJobs: [] });
  return read(brief ?? []);
}

/** Returns the time that a page shows until the queue is empty, in milliseconds; `null` if it shows no single one. */
function shownMs(outlooks: BacklogOutlooks): number | null {
  const [, text] = /drains in about (.+) at/.exec(briefOf(outlooks)) ?? [];
  return text === undefined ? null : msOf(text);
}

/** Returns the range of times that a page shows until the queue is empty, in milliseconds; `null` if it shows none. */
function shownRange(outlooks: BacklogOutlooks): [number, number] | null {
  const [, least, most] = /drains in (.+) to (.+) at/.exec(briefOf(outlooks)) ?? [];
  return least === undefined || most === undefined ? null : [msOf(least), msOf(most)];
}

function msOf(text: string): number {
  const unitMs = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000 };
  return [...text.matchAll(/(\d+) (d|h|min|s)/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs],
    0,
  );
}

function rateIn(changed: readonly number[], start: number, end: number): number {
  return ((changed[end] ?? 0) - (changed[start] ?? 0)) / (end - start);
}

/** Returns whether jobs that come or go together did so often enough in a period for their mean rate to show. */
function isShown({ batches, rounds }: History, start: number, end: number): boolean {
  return [batches, rounds].every((events) => {
    const count = (events[end] ?? 0) - (events[start] ?? 0);
    return count === 0 || count >= MANY;
  });
}

describe(`the trend of a backlog, in ${histories} histories`, () => {
  const found = new Judgement();
  before(() => {
    for (let seed = firstSeed; seed < firstSeed + histories; seed++) found.add(seed);
    if (process.env['HISTORIES'] !== undefined) process.stdout.write(`${JSON.stringify(found)}\n`);
  });

  it('never has the wrong direction', () => {
    expect(found.wrongDirection).to.deep.equal([]);
  });

  it('never has a rate that is off by more than it says', () => {
    expect(found.wrongRate).to.deep.equal([]);
    expect(found.wrongOnAverage).to.deep.equal([]);
  });

  it('is not stated any more once the direction has been another for twenty seconds', () => {
    expect(found.outdated).to.deep.equal([]);
  });

  it('never gives a time until the queue is empty that the rate does not allow', () => {
    expect(found.wrongDrainTime).to.deep.equal([]);
  });

  it('is stated often enough to be useful', () => {
    expect(found.statements / found.points).to.be.greaterThan(0.15);
    expect(found.withDrainTime / found.statements).to.be.greaterThan(0.05);
    expect(found.withDrainRange / found.statements).to.be.greaterThan(0.05);
  });
});

describe('the time until a queue is empty', () => {
  it('never rises while servers take jobs at a constant rate', () => {
    const rises: string[] = [];
    let shown = 0;
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed);
      const [rate, everyMs] = [random.integer(1, 300), random.oneOf(2_000, 3_000, 5_000, 10_000)];
      const start = rate * random.integer(100, 2_000);
      const seen: BacklogSample[] = [];
      let nowMs = 0;
      let before = Infinity;
      const outlooks = outlooksOf(
        () => seen.slice(-60),
        () => nowMs,
      );
      for (let left = start; left > 0 && nowMs < 600_000; nowMs += everyMs) {
        left = start - Math.floor((rate * nowMs) / 1_000);
        seen.push({ atMs: nowMs, ready: left, regime: '' });
        const leftMs = shownMs(outlooks);
        if (leftMs === null) continue;
        shown++;
        if (leftMs > before) rises.push(`${seed}: from ${before} to ${leftMs} ms at ${nowMs} ms`);
        before = leftMs;
      }
    }
    expect(rises).to.deep.equal([]);
    expect(shown).to.be.greaterThan(10_000);
  });
});
