import { setTimeout as pause } from 'node:timers/promises';
import type { Contender, Payload, ServerSettings } from '../contenders/contender.js';

const smallest14Digits = 10_000_000_000_000;
const deadlineMs = 300_000;

/**
 * The tasks that the benchmark gives to a contender's process. Times are in milliseconds. They are measured in this
 * process, so they exclude the communication between the processes. A task throws if its work is incomplete.
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

  /**
   * Enqueues jobs in bulk. Returns how long that took.
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
   * Enqueues this many jobs from concurrent callers. Each caller enqueues its next job as soon as the previous one is
   * durable. Returns how long it took to enqueue all jobs.
   */
  async enqueueConcurrently(count: number, callers: number): Promise<number> {
    const jobs = payloads(count).values();
    const before = await this.#contender.unfinished();
    // All callers take their jobs from the same iterator.
    const call = async (): Promise<void> => {
      for (const job of jobs) await this.#contender.enqueueOne(job);
    };
    const elapsedMs = await timed(() => Promise.all(Array.from({ length: callers }, call)));
    equal('jobs enqueued', (await this.#contender.unfinished()) - before, count);
    return elapsedMs;
  }

  /**
   * Runs all waiting jobs; there must be exactly `count`. Returns the time from the start of the server until the last
   * outcome is in the database. Excludes the time to stop the server.
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
   * Runs jobs alongside other processes until none are left. Returns how many jobs ran in this process, and when the
   * process started and ended the drain, by a clock that all processes on the machine share.
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
   * Starts idle servers. A contender whose server has only one queue ignores `queues`.
   *
   * @throws {RangeError} if `servers` is greater than one and the contender cannot run several servers in a process
   */
  async idle(servers: number, queues: number): Promise<void> {
    if (this.#contender.startIdle !== undefined) return this.#contender.startIdle(servers, queues);
    if (servers > 1) throw new RangeError('This contender runs one server in a process');
    return this.#contender.startServer(() => undefined, { idle: 1 });
  }

  /** Starts a server that records how long each job of {@link send} took to reach its handler. */
  async listen(settings: ServerSettings): Promise<void> {
    this.#latencies = [];
    await this.#contender.startServer(({ n }) => void this.#latencies.push(now() - n), settings);
  }

  /** Enqueues this many jobs one at a time, with a random pause of 10 to 30 ms before each. */
  async send(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      await pause(10 + Math.random() * 20);
      await this.#contender.enqueueOne({ n: now() });
    }
  }

  /** Waits up to about five seconds for the latencies of `count` jobs, stops the server, and returns the latencies. */
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

/** Returns the time in milliseconds, by a clock that all processes on the machine share. */
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
