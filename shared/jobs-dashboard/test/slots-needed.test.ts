import { Timing, type TimingBucket } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { trendOf } from '../src/diagnosis/backlog-trend.js';
import { slotsNeeded } from '../src/diagnosis/slots-needed.js';
import type { BacklogSample } from '../src/reading/backlog-samples.js';
import { Random } from './backlog-histories.js';
import { read, server } from './situation.js';

/** Another number of histories and another first seed: `HISTORIES=100000 SEED=7`. */
const histories = Number(process.env['HISTORIES'] ?? 300);
const firstSeed = Number(process.env['SEED'] ?? 0);

/** A change of how long jobs run shows after this many seconds: a third of the period over which a trend is fitted. */
const TURNED_S = 30;

/** How jobs of a queue arrive, and how long they occupy a slot. */
interface Load {
  readonly slots: number;
  readonly arrivals: number;
  readonly runMs: number;
  /** 0 if all jobs take as long; 1 if they differ at random; higher if a few take much longer. */
  readonly spread: number;
  /** Time between two jobs of a slot, in milliseconds. */
  readonly gapMs: number;
  /** The share of the slots’ time that jobs of other queues take. */
  readonly others: number;
}

function loadOf(random: Random): Load {
  return {
    slots: random.oneOf(1, 4, 20, 50),
    arrivals: random.integer(0, 40),
    runMs: random.oneOf(20, 200, 1_000, 4_000),
    spread: random.oneOf(0, 0.5, 1, 2),
    gapMs: random.oneOf(0, 0, 1, 50),
    others: random.oneOf(0, 0, 0, 0.02, 0.5),
  };
}

/** A queue whose slots are always busy as long as it has ready jobs. */
class PlayedSlots {
  readonly #random: Random;
  readonly samples: BacklogSample[] = [];
  readonly minutes = new Map<number, TimingBucket>();
  readonly #freeAt: number[] = [];
  ready: number;
  nowMs = 0;

  constructor(random: Random, ready: number) {
    this.#random = random;
    this.ready = ready;
  }

  /** Returns by how many jobs per second the backlog changes with this many slots, on average. */
  static rate({ arrivals, runMs, gapMs, others }: Load, slots: number): number {
    return arrivals - (slots * (1 - others) * 1_000) / (runMs + gapMs);
  }

  second(load: Load, lateMs: number): void {
    const untilMs = this.nowMs + 1_000;
    this.ready += this.#random.poisson(load.arrivals);
    for (let slot = 0; slot < load.slots; slot++) {
      this.#freeAt[slot] ??= this.nowMs + this.#random.integer(0, load.runMs);
      for (let at = this.#freeAt[slot] ?? 0; at < untilMs; at = this.#freeAt[slot] ?? untilMs) {
        const ranMs = load.runMs * this.#factor(load.spread);
        this.#freeAt[slot] = at + ranMs + load.gapMs;
        if (this.#random.next() < load.others) continue;
        if (this.ready === 0) break;
        this.ready--;
        this.#count(at + ranMs, ranMs);
      }
    }
    this.nowMs = untilMs;
    if (this.nowMs % 2_000 === 0) this.samples.push({ atMs: this.nowMs, ready: this.ready, regime: '' });
    this.#reportedMs = Math.max(this.#reportedMs, this.nowMs - lateMs);
  }

  #reportedMs = 0;
  readonly #ended: { readonly atMs: number; readonly ranMs: number }[] = [];

  #count(atMs: number, ranMs: number): void {
    this.#ended.push({ atMs, ranMs });
  }

  /** The timings that have been stored: those of all attempts that had ended when servers last reported. */
  stored(): TimingBucket[] {
    const current = Math.floor(this.nowMs / 60_000);
    const buckets = [current - 1, current].map((minute) => ({
      at: new Date(minute * 60_000),
      timing: new Timing(),
      backlog: null,
    }));
    for (const { atMs, ranMs } of this.#ended)
      if (atMs <= this.#reportedMs)
        buckets[Math.floor(atMs / 60_000) - current + 1]?.timing.running.add(ranMs);
    return buckets;
  }

  #factor(spread: number): number {
    if (spread === 0) return 1;
    const exponential = -Math.log(1 - this.#random.next());
    if (spread <= 1) return 1 - spread + spread * exponential;
    return this.#random.next() < 0.9 ? 0.5 * exponential : 5.5 * exponential;
  }
}

/** Returns the numbers of a statement: how many more slots, and the rate that follows, per second. */
function numbersIn(text: string): { more: number; rate: number; off: number } {
  const [, more, rate, off, unit] =
    /^(\d+) more slots? .* at ([\d.,]+) ± ([\d.,]+)(\/s| per min)$/.exec(text) ?? [];
  const per = unit === '/s' ? 1 : 60;
  const number = (digits = ''): number => Number(digits.replaceAll(',', ''));
  return { more: number(more), rate: number(rate) / per, off: number(off) / per };
}

describe(`the slots that a queue needs, in ${histories} histories`, () => {
  it('drain it at the rate that is stated, within its uncertainty', () => {
    const wrong: string[] = [];
    let statements = 0;
    for (let seed = firstSeed; seed < firstSeed + histories; seed++) {
      const random = new Random(seed);
      const first = loadOf(random);
      const turn = random.oneOf(0, 0, random.integer(90, 240));
      const then = { ...first, runMs: first.runMs * random.oneOf(0.5, 1.5, 3) };
      const played = new PlayedSlots(random, random.integer(500, 20_000));
      const lateMs = random.integer(0, 6_000);
      for (let second = 0; second < 330; second++) {
        const load = turn !== 0 && second >= turn ? then : first;
        played.second(load, lateMs);
        const hasJustTurned = turn !== 0 && second >= turn && second < turn + TURNED_S;
        if (second % 10 !== 9 || second < 60 || hasJustTurned) continue;
        const trend = trendOf(played.samples.slice(-60), played.nowMs);
        if (trend === null) continue;
        const consumers = [server({ concurrency: load.slots })];
        const taking = { consumers, minutes: played.stored(), nowMs: played.nowMs };
        const text = slotsNeeded(trend, taking);
        if (text === null) continue;
        statements++;
        const { more, rate, off } = numbersIn(read(text));
        const truth = -PlayedSlots.rate(load, load.slots + more);
        if (Math.abs(rate - truth) > off)
          wrong.push(
            `${seed} at ${second}, turn ${turn}: ${read(text)}, but ${truth}: ${JSON.stringify(load)}`,
          );
      }
    }
    if (process.env['HISTORIES'] !== undefined) process.stdout.write(`${statements} statements\n`);
    expect(wrong).to.deep.equal([]);
    expect(statements).to.be.greaterThan(histories / 4);
  });
});
