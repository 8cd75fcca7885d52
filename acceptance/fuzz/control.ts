import { eventually } from '@longshore/test-support';

/** The fields of a job that the suite reads. */
interface Job {
  readonly id: string;
  readonly state: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
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
    await this.#lasted(await this.#send<Job>('POST', '/jobs', job));
  }

  async runJob(): Promise<number> {
    return this.#lasted(await this.#send<Job>('POST', '/jobs', job));
  }

  /** Runs a batch. Resolves to the time from the callback's creation to the callback's end, in milliseconds. */
  async runBatch(): Promise<number> {
    const ordered = { jobs: [job, job, job], callback: job };
    const { callbackId } = await this.#send<{ callbackId: string }>('POST', '/batches', ordered);
    return this.#lasted({ id: callbackId });
  }

  async runContinuation(): Promise<number> {
    const parent = await this.#send<Job>('POST', '/jobs', { ...job, delayMs: 300 });
    return this.#lasted(await this.#send<Job>('POST', '/jobs', { ...job, after: { parents: [parent.id] } }));
  }

  /**
   * Runs three jobs with a concurrency limit of one. Resolves to the longest time from a job's creation to its end, in
   * milliseconds.
   */
  async runKeyed(): Promise<number> {
    const keyed = { ...job, concurrency: { key: 'control', limit: 1 } };
    const jobs = await this.#send<readonly Job[]>('POST', '/jobs', [keyed, keyed, keyed]);
    return Math.max(...(await Promise.all(jobs.map((one) => this.#lasted(one)))));
  }

  async #lasted({ id }: Pick<Job, 'id'>): Promise<number> {
    const done = await eventually(async () => {
      const now = await this.#get<Job>(`/jobs/${id}`);
      return now.state === 'done' ? now : null;
    });
    return done === null ? Infinity : tookMs(done);
  }

  async #get<Value>(path: string): Promise<Value> {
    return this.#send<Value>('GET', path, undefined);
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

function tookMs({ createdAt, finishedAt }: Job): number {
  return Date.parse(finishedAt ?? '') - Date.parse(createdAt);
}
