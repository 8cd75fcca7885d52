import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@longshore/test-support';
import type { Accepted } from './load.js';
import { seconds } from './process-faults.js';
import type { Fault, Stage } from './stage.js';

/** How long an outage lasts, in milliseconds. */
const outageMs = 6_000;

/** Pause between two requests to the same API, in milliseconds. Requests do not wait for earlier ones. */
const everyMs = 100;

/** How long a request waits for an answer, in milliseconds. One that gets none violates a property. */
const patienceMs = 30_000;

interface Answer {
  readonly status: number;
  /** When the answer came, and how long it took, in milliseconds. */
  readonly atMs: number;
  readonly tookMs: number;
}

/** An outage of Postgres: how it begins, and how it ends. */
export interface Outage {
  /** What precedes the beginning, and takes time. */
  prepare?(stage: Stage): Promise<void>;
  begin?(stage: Stage): Promise<void>;
  /** What goes on until the signal. */
  during?(stage: Stage, signal: AbortSignal): Promise<void>;
  /** Resolves when Postgres can be used again. */
  end(stage: Stage): Promise<void>;
}

/**
 * Makes a fault of an outage. Clients of the API services send requests during the outage, as often as if all was well.
 * Each of them must be answered. Reports when the first 503 came, the longest request, the longest check of readiness,
 * and how long after the end of the outage a new job was done.
 */
export function outage(what: Outage): Fault {
  return async (stage) => {
    const clients = new Clients(stage);
    const over = new AbortController();
    let goingOn: Promise<void> | undefined;
    let beganAtMs = NaN;
    try {
      await what.prepare?.(stage);
      beganAtMs = performance.now();
      await what.begin?.(stage);
      goingOn = what.during?.(stage, over.signal);
      await clients.send(outageMs);
    } finally {
      over.abort();
      await goingOn;
      await what.end(stage);
    }
    const endedAtMs = performance.now();
    const id = await eventually(
      () => clients.enqueue(),
      (accepted) => accepted !== '',
      { everyMs: 50, checks: 1_200 },
    );
    await stage.observer.untilDone([id]);
    const firstJobMs = performance.now() - endedAtMs;
    const breaches = await clients.answered();
    return { remark: clients.remark(beganAtMs, firstJobMs), breaches };
  };
}

/** Clients of the API services. */
class Clients {
  readonly #stage: Stage;
  readonly #requests: Promise<void>[] = [];
  readonly #answers: Answer[] = [];
  readonly #checks: Answer[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Sends requests for `ms` milliseconds. */
  async send(ms: number): Promise<void> {
    const { apiUrls, workerUrls } = this.#stage.fleet;
    for (const end = performance.now() + ms; performance.now() < end; await sleep(everyMs)) {
      for (const api of apiUrls) this.#requests.push(this.#request(() => this.#post(api), this.#answers));
      for (const api of apiUrls) this.#requests.push(this.#request(() => this.#check(api), this.#checks));
      // Another fault may have frozen or killed a worker.
      for (const url of workerUrls)
        this.#request(() => this.#check(url), this.#checks).catch(() => undefined);
    }
  }

  /** Waits for the answers to all requests to the APIs. Resolves to a description of what was not answered. */
  async answered(): Promise<string[]> {
    const failed = (await Promise.allSettled(this.#requests)).filter((each) => each.status === 'rejected');
    return failed.length === 0
      ? []
      : [`${failed.length} requests without an answer during an outage: ${String(failed[0]?.reason)}`];
  }

  /**
   * Enqueues a job and returns its id.
   *
   * @throws {Error} if the API does not accept the job
   */
  async enqueue(): Promise<string> {
    const [api = ''] = this.#stage.fleet.apiUrls;
    const { status, id } = await this.#post(api);
    if (id === null) throw new Error(`The API answered with ${status}`);
    return id;
  }

  remark(beganAtMs: number, firstJobMs: number): string {
    const refused = this.#answers.filter(({ status }) => status === 503).map(({ atMs }) => atMs - beganAtMs);
    const first = refused.length === 0 ? 'no 503' : `first 503 after ${seconds(Math.min(...refused))}`;
    const longest = (answers: readonly Answer[]): string =>
      seconds(Math.max(0, ...answers.map(({ tookMs }) => tookMs)));
    const unready = this.#checks.filter(({ status }) => status === 503).length;
    return [
      first,
      `${refused.length} of ${this.#answers.length} requests 503`,
      `longest request ${longest(this.#answers)}`,
      `${unready} of ${this.#checks.length} checks not ready, longest ${longest(this.#checks)}`,
      `first job ${seconds(firstJobMs)} after the end`,
    ].join(', ');
  }

  async #request(send: () => Promise<{ readonly status: number }>, answers: Answer[]): Promise<void> {
    const sentAtMs = performance.now();
    const { status } = await send();
    const atMs = performance.now();
    answers.push({ status, atMs, tookMs: atMs - sentAtMs });
  }

  async #check(url: string): Promise<{ readonly status: number }> {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(patienceMs) });
    await response.text();
    return response;
  }

  async #post(api: string): Promise<{ readonly status: number; readonly id: string | null }> {
    const from = new Date().toISOString();
    const response = await fetch(`${api}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'plain', args: { ms: 0, failures: 0 } }),
      signal: AbortSignal.timeout(patienceMs),
    });
    await response.text();
    const id = response.headers.get('location')?.split('/').at(-1) ?? null;
    if (!response.ok || id === null) return { status: response.status, id: null };
    const accepted: Accepted = { id, from, until: new Date().toISOString() };
    return { status: response.status, id: this.#stage.load.accept(accepted) };
  }
}
