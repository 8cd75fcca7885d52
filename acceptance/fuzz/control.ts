import { eventually } from '@longshore/test-support';

/** The fields of a job that the suite reads. */
interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
}

const job = { name: 'greet', args: { name: 'control' } };

/** Runs valid jobs, to check that the platform still works after the fuzzing. */
export class Control {
  readonly #api: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(apiUrl: string, headers: Readonly<Record<string, string>>) {
    this.#api = `${apiUrl}/api/v1`;
    this.#headers = { ...headers, 'content-type': 'application/json' };
  }

  /**
   * Removes the queue's limits and resumes the queue and the job type, because fuzz requests may have changed these
   * settings. Then waits until one job is done.
   */
  async clear(): Promise<void> {
    await this.#send('PATCH', '/queues/default', { concurrencyLimit: null, rateLimit: null });
    await this.#send('PUT', '/queues/default/resume', undefined);
    await this.#send('PUT', `/job-types/${job.name}/resume`, undefined);
    await this.runJob();
  }

  /** Runs a job. Resolves to the number of attempts that it took. */
  async runJob(): Promise<number> {
    return this.#attemptsOf(await this.#send<Job>('POST', '/jobs', job));
  }

  /** Runs a batch. Resolves to the number of attempts that its callback took. */
  async runBatch(): Promise<number> {
    const ordered = { jobs: [job, job, job], callback: job };
    const { callbackId } = await this.#send<{ callbackId: string }>('POST', '/batches', ordered);
    return this.#attemptsOf({ id: callbackId });
  }

  /** Runs a job and its continuation. Resolves to the number of attempts that the continuation took. */
  async runContinuation(): Promise<number> {
    const parent = await this.#send<Job>('POST', '/jobs', { ...job, delayMs: 300 });
    return this.#attemptsOf(
      await this.#send<Job>('POST', '/jobs', { ...job, after: { parents: [parent.id] } }),
    );
  }

  /** Runs three jobs with a concurrency limit of one. Resolves to the number of attempts that each took. */
  async runKeyed(): Promise<number[]> {
    const keyed = { ...job, concurrency: { key: 'control', limit: 1 } };
    const jobs = await this.#send<readonly Job[]>('POST', '/jobs', [keyed, keyed, keyed]);
    return Promise.all(jobs.map((one) => this.#attemptsOf(one)));
  }

  /** Waits until the job is done. */
  async #attemptsOf({ id }: Pick<Job, 'id'>): Promise<number> {
    const { attempt } = await eventually(
      () => this.#send<Job>('GET', `/jobs/${id}`, undefined),
      ({ state }) => state === 'done',
    );
    return attempt;
  }

  async #send<Value>(method: string, path: string, body: unknown): Promise<Value> {
    const response = await fetch(this.#api + path, {
      method,
      headers: this.#headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 500)}`);
    return JSON.parse(text) as Value;
  }
}
