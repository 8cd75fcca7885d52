import { setTimeout as pause } from 'node:timers/promises';
import type { Contender, Payload, ServerSettings } from '../contenders/contender.js';

const smallest14Digits = 10_000_000_000_000;
const deadlineMs = 300_000;

/**
 * Tasks that the benchmark sends to a contender's process. All times are in milliseconds. The contender's process
 * measures them, so they exclude communication between processes.
 */
export class Tasks {
  readonly #contender: Contender;
  #latencies: number[] = [];

  constructor(contender: Contender) {
    this.#contender = contender;
  }

  prepare(): Promise<void> {
    return this.#contender.prepare();
  }

  close(): Promise<void> {
    return this.#contender.close();
  }

  /** Returns the CPU time that this process has used so far, in milliseconds. */
  async processorTime(): Promise<number> {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }

  /** Returns the resident memory of this process. */
  async residentBytes(): Promise<number> {
    return process.memoryUsage.rss();
  }

  /**
   * Enqueues jobs in bulk. Resolves to the elapsed time, in milliseconds.
   *
   * @param bytes size of each job's arguments as JSON
   */
  async enqueueMany(count: number, bytes = 20): Promise<number> {
    const jobs = payloads(count, bytes);
    const before = await this.#contender.unfinished();
    const elapsedMs = await timed(() => this.#contender.enqueueMany(jobs));
    equal('jobs enqueued', (await this.#contender.unfinished()) - before, count);
    return elapsedMs;
  }

  /**
   * Enqueues `count` jobs from concurrent callers. Each caller enqueues its next job as soon as the previous one is
   * durable. Returns the elapsed time.
   */
  async enqueueConcurrently(count: number, callers: number): Promise<number> {
    const jobs = payloads(count).values();
    const before = await this.#contender.unfinished();
    // All callers share one iterator, so that each job is enqueued once.
    const call = async (): Promise<void> => {
      for (const job of jobs) await this.#contender.enqueueOne(job);
    };
    const elapsedMs = await timed(() => Promise.all(Array.from({ length: callers }, call)));
    equal('jobs enqueued', (await this.#contender.unfinished()) - before, count);
    return elapsedMs;
  }

  /**
   * Runs all waiting jobs; there must be exactly `count` of them. Resolves to the time from the start of the server
   * until all outcomes are stored, in milliseconds.
   */
  async drain(count: number, settings: ServerSettings): Promise<number> {
    let ran = 0;
    const elapsedMs = await timed(async () => {
      const { promise: allRan, resolve } = signal();
      await this.#contender.startServer(() => {
        if (++ran === count) resolve();
      }, settings);
      await within(allRan, () => `${ran} of ${count} jobs ran`);
      while ((await this.#contender.unfinished()) > 0) await pause(1);
    });
    await this.#contender.stopServer();
    equal('handler calls', ran, count);
    equal('jobs left', await this.#contender.unfinished(), 0);
    return elapsedMs;
  }

  /**
   * Runs all waiting jobs with `steps` durable steps each; there must be exactly `count` jobs. Resolves to the time from
   * the start of the server until all outcomes are stored, in milliseconds.
   *
   * @throws {Error} if a step ran twice or not at all, or if its result is not stored
   */
  async drainSteps(count: number, steps: number, settings: ServerSettings): Promise<number> {
    const { startStepServer, storedSteps } = this.#contender;
    if (startStepServer === undefined || storedSteps === undefined)
      throw new RangeError('This contender has no durable steps');
    const storedBefore = await storedSteps();
    const ran = new Map<number, number>();
    let finished = 0;
    const elapsedMs = await timed(async () => {
      const { promise: allFinished, resolve } = signal();
      await startStepServer(async ({ n }, step) => {
        for (let number = 0; number < steps; number++)
          await step(`step-${number}`, () => {
            const key = n * steps + number;
            ran.set(key, (ran.get(key) ?? 0) + 1);
            return number;
          });
        if (++finished === count) resolve();
      }, settings);
      await within(allFinished, () => `${finished} of ${count} jobs finished`);
      while ((await this.#contender.unfinished()) > 0) await pause(1);
    });
    await this.#contender.stopServer();
    equal('steps run', ran.size, count * steps);
    equal('most runs of a step', Math.max(1, ...new Set(ran.values())), 1);
    equal('steps stored', (await storedSteps()) - storedBefore, count * steps);
    equal('jobs left', await this.#contender.unfinished(), 0);
    return elapsedMs;
  }

  /**
   * Runs jobs alongside other processes until no jobs are left. Returns the number of jobs that this process ran, and
   * when it started and ended, by a clock that all processes on the machine share.
   */
  async drainShare(settings: ServerSettings): Promise<{ ran: number; startedMs: number; endedMs: number }> {
    let ran = 0;
    const startedMs = now();
    await this.#contender.startServer(() => void ran++, settings);
    while ((await this.#contender.unfinished()) > 0) await pause(5);
    const endedMs = now();
    await this.#contender.stopServer();
    return { ran, startedMs, endedMs };
  }

  /**
   * Starts idle servers. Contenders without `startIdle` ignore `queues`.
   *
   * @throws {RangeError} if `servers` is greater than one and the contender has no `startIdle`
   */
  async idle(servers: number, queues: number): Promise<void> {
    if (this.#contender.startIdle !== undefined) return this.#contender.startIdle(servers, queues);
    if (servers > 1) throw new RangeError('This contender runs one server in a process');
    return this.#contender.startServer(() => undefined, { idle: 1 });
  }

  /** Starts a server that records the latency of each job that {@link send} enqueues. */
  async listen(settings: ServerSettings): Promise<void> {
    this.#latencies = [];
    await this.#contender.startServer(({ n }) => void this.#latencies.push(now() - n), settings);
  }

  /** Enqueues `count` jobs one at a time, with a random pause of 10 to 30 ms before each. */
  async send(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      await pause(10 + Math.random() * 20);
      await this.#contender.enqueueOne({ n: now() });
    }
  }

  /**
   * Waits up to about five seconds for the latencies of `count` jobs. Then stops the server and returns the latencies.
   *
   * @throws {Error} if the number of latencies is not `count`
   */
  async collectLatencies(count: number): Promise<number[]> {
    for (let waited = 0; this.#latencies.length < count && waited < 500; waited++) await pause(10);
    await this.#contender.stopServer();
    equal('jobs heard', this.#latencies.length, count);
    return this.#latencies;
  }
}

function payloads(count: number, bytes = 20): Payload[] {
  const text = bytes > 20 ? { text: 'x'.repeat(bytes - 30) } : {};
  return Array.from({ length: count }, (_, index) => ({ n: smallest14Digits + index, ...text }));
}

/** Returns the current time in milliseconds, by a clock that all processes on the machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function within(work: Promise<void>, describe: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`After ${deadlineMs} ms, ${describe()}`)), deadlineMs);
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function equal(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}`);
}
