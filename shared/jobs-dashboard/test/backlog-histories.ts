import type { BacklogSample } from '../src/reading/backlog-samples.js';

/** Random numbers that depend only on the seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  }

  /** Returns a number from 0 to 1, excluding 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  integer(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  oneOf<Item>(...items: readonly [Item, ...Item[]]): Item {
    return items[this.integer(0, items.length - 1)] ?? items[0];
  }

  /** Returns a number of events, by Poisson's distribution. */
  poisson(mean: number): number {
    if (mean > 50) {
      const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
      return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
    }
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.next(); product > limit; product *= this.next()) count++;
    return count;
  }
}

/** A stretch of a history in which the rates stay the same. */
interface Stretch {
  readonly seconds: number;
  /** Jobs that arrive per second, on average. */
  readonly arrivals: number;
  /** Number of jobs that arrive together. */
  readonly batch: number;
  /** Arrivals stop in every other period of this many seconds; 0 if they do not stop. */
  readonly pulse: number;
  /** Jobs that servers take per second, on average. */
  readonly taken: number;
  /** Servers start jobs only every so many seconds, because jobs take as long as each other; 0 for at random. */
  readonly round: number;
  /** Changes if something changes that the dashboard sees: a pause, a limit, the number of servers. */
  readonly regime: number;
}

/** What the process samples of a queue, and what is true of it. */
export interface History {
  readonly samples: readonly BacklogSample[];
  /** The second of each sample. */
  readonly seconds: readonly number[];
  /**
   * By how many jobs the queue had changed until each second, by the rates; jobs that arrive or are taken together count
   * when they were.
   */
  readonly changed: readonly number[];
  /** The same, with jobs that arrive or are taken together at their mean rates. */
  readonly changedOnAverage: readonly number[];
  /** How often jobs arrived together until each second, on average, and how often jobs were taken together. */
  readonly batches: readonly number[];
  readonly rounds: readonly number[];
}

const kinds = ['mixed', 'drain', 'ramp', 'pauses', 'deploys', 'flood', 'servers'] as const;

function stretchesOf(random: Random): Stretch[] {
  const kind = random.oneOf(...kinds);
  const rate = (): number => random.oneOf(0, random.integer(1, 20), random.integer(1, 200));
  const batch = random.oneOf(1, 1, 10, 300);
  const round = random.oneOf(0, 0, 0, 2, 5, 10);
  const steady = { arrivals: rate(), batch, pulse: random.oneOf(0, 0, 0, 5, 20), taken: rate(), round };
  const count = random.integer(1, 4);
  return Array.from({ length: count }, (_each, index) => {
    const seconds = random.integer(20, 200);
    switch (kind) {
      case 'mixed':
        return { ...steady, seconds, arrivals: rate(), taken: rate(), regime: 0 };
      case 'drain':
        return {
          ...steady,
          seconds: 400,
          arrivals: random.oneOf(0, steady.taken * 0.8),
          pulse: 0,
          regime: 0,
        };
      case 'ramp':
        return { ...steady, seconds: 40, arrivals: (steady.arrivals * index) / 2, regime: 0 };
      case 'pauses':
        return { ...steady, seconds, taken: index % 2 === 0 ? steady.taken : 0, regime: index };
      case 'deploys':
        return {
          ...steady,
          seconds: index % 2 === 0 ? seconds : 8,
          taken: index % 2 === 0 ? steady.taken : 0,
          regime: 0,
        };
      case 'flood':
        return index === 1
          ? { ...steady, seconds: 5, arrivals: 2_000, batch: 1, regime: 0 }
          : { ...steady, seconds, regime: 0 };
      default:
        return { ...steady, seconds, taken: steady.taken * (index + 1), regime: index };
    }
  });
}

/** A queue whose jobs come and go at the rates of a stretch. */
class PlayedQueue {
  readonly #random: Random;
  readonly changed = [0];
  readonly changedOnAverage = [0];
  readonly batches = [0];
  readonly rounds = [0];
  ready: number;
  second = 0;

  constructor(random: Random, ready: number) {
    this.#random = random;
    this.ready = ready;
  }

  /**
   * Plays one second of a stretch.
   *
   * @param since the second in which the stretch began
   */
  play({ seconds, arrivals, batch, pulse, taken, round }: Stretch, since: number): void {
    const rate = pulse === 0 || Math.floor(this.second / pulse) % 2 === 0 ? arrivals : 0;
    const arrived = batch * this.#random.poisson(rate / batch);
    const ofRound = Math.round(taken * round);
    const inRound = round === 0 ? 0 : (this.second - since) % round;
    const roundOrNone = inRound === 0 ? ofRound : 0;
    const wanted = round === 0 ? this.#random.poisson(taken) : roundOrNone;
    const started = Math.min(this.ready + arrived, wanted);
    this.ready += arrived - started;
    // If there were too few jobs to take, it is known what was taken; also if a round is the last one, and cut short.
    const isKnown = started < wanted || this.second - inRound + round > since + seconds;
    const takenOnAverage = round === 0 ? taken : ofRound / round;
    add(this.changed, (batch > 1 ? arrived : rate) - (round > 0 || started < wanted ? started : taken));
    add(this.changedOnAverage, rate - (isKnown ? started : takenOnAverage));
    add(this.batches, batch === 1 ? 0 : rate / batch);
    add(this.rounds, ofRound === 0 ? 0 : 1 / round);
    this.second++;
  }
}

/** Appends the sum of a value and the last element. */
function add(sums: number[], value: number): void {
  sums.push((sums.at(-1) ?? 0) + value);
}

/** Plays a random history of a queue: rates, the times at which it is sampled, and what goes wrong with sampling. */
export function play(seed: number): History {
  const random = new Random(seed);
  const everyS = random.oneOf(2, 2, 5, 10);
  const missing = random.oneOf(0, 0.05, 0.3);
  const jitterMs = random.oneOf(0, 0, 200);
  const fault = random.oneOf('none', 'none', 'gap', 'clock', 'restart');
  const faultAt = random.integer(60, 300);
  const clockStepMs = random.oneOf(-30_000, -1_500, 4_000, 3_600_000);
  const queue = new PlayedQueue(random, random.oneOf(0, random.integer(0, 2_000), random.integer(0, 20_000)));
  const samples: BacklogSample[] = [];
  const seconds: number[] = [];
  const sample = (regime: number): void => {
    const { second, ready } = queue;
    if (fault === 'restart' && second === faultAt) samples.length = seconds.length = 0;
    const isGap = fault === 'gap' && second >= faultAt && second < faultAt + 40;
    if (second % everyS !== 0 || isGap || random.next() < missing) return;
    const offMs = fault === 'clock' && second >= faultAt ? clockStepMs : 0;
    const atMs = second * 1_000 + offMs + random.integer(0, jitterMs);
    samples.push({ atMs, ready, regime: String(regime) });
    seconds.push(second);
  };
  for (const stretch of stretchesOf(random)) {
    const since = queue.second;
    while (queue.second < since + stretch.seconds) {
      queue.play(stretch, since);
      sample(stretch.regime);
    }
  }
  const { changed, changedOnAverage, batches, rounds } = queue;
  return { samples, seconds, changed, changedOnAverage, batches, rounds };
}
