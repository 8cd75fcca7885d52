import { eventually } from '@longshore/test-support';

interface Accepted {
  readonly id: string;
}

/** Maximum number of unfinished jobs before a request, so that the load fits the speed of the machine. */
const maxUnfinished = 40;

/**
 * Sends requests to a running API, one at a time. The requests enqueue ready jobs, delayed jobs, jobs with an
 * idempotency key, several jobs at once, and continuations.
 */
export class Load {
  readonly accepted: string[] = [];
  /** Responses other than 201, with their bodies. */
  readonly refused: string[] = [];
  readonly #countFinished: () => Promise<number>;
  readonly #urls: string[] = [];
  #stopped = false;
  #running: Promise<void> | undefined;

  /** @param countFinished returns the number of jobs that have finished */
  constructor(countFinished: () => Promise<number>) {
    this.#countFinished = countFinished;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Sends all later requests to this URL. */
  use(url: string): void {
    this.#urls.unshift(url);
  }

  async #run(): Promise<void> {
    for (let n = 0; !this.#stopped; n++) {
      const [url] = this.#urls;
      if (url !== undefined) await this.#post(url, jobs(n));
      await eventually(
        async () => this.accepted.length - (await this.#countFinished()),
        (unfinished) => unfinished <= maxUnfinished || this.#stopped,
      );
    }
  }

  async #post(url: string, body: unknown): Promise<void> {
    const response = await fetch(`${url}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) {
      this.refused.push(`${response.status} ${await response.text()}`);
      return;
    }
    const jobs = (await response.json()) as Accepted | Accepted[];
    for (const { id } of Array.isArray(jobs) ? jobs : [jobs]) this.accepted.push(id);
    const [first] = Array.isArray(jobs) ? jobs : [jobs];
    if (first === undefined || this.accepted.length % 5 > 0) return;
    await this.#post(url, { name: 'known', args: {}, after: { parents: [first.id] } });
  }
}

function jobs(n: number): unknown {
  if (n % 4 === 1) return { name: 'known', args: {}, delayMs: 300 };
  if (n % 4 === 2) return { name: 'known', args: {}, idempotencyKey: `order-${n}` };
  if (n % 4 === 3) return [1, 2, 3].map((part) => ({ name: 'known', args: { part } }));
  return { name: 'known', args: {} };
}
