import { eventually } from '@longshore/test-support';

/** The fields of a job that the suite reads. */
interface Job {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
}

interface Batch {
  readonly id: string;
  readonly callbackId: string;
}

const job = { name: 'greet', args: { name: 'control' } };

/**
 * How many jobs may be enqueued and done one after the other while a control job waits. Jobs are counted instead of
 * milliseconds, because all of them are equally slow on a busy machine. Usually, at most two overtake a control job.
 */
const maxOvertaking = 50;

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
    const { id, callbackId } = await this.#send<Batch>('POST', '/batches', ordered);
    const members = await this.#send<readonly Job[]>('GET', `/batches/${id}/jobs`, undefined);
    for (const one of members) await this.#attemptsOf(one);
    return this.#attemptsOf({ id: callbackId });
  }

  /** Runs a job and its continuation. Resolves to the number of attempts that the continuation took. */
  async runContinuation(): Promise<number> {
    const parent = await this.#send<Job>('POST', '/jobs', { ...job, delayMs: 300 });
    const child = await this.#send<Job>('POST', '/jobs', { ...job, after: { parents: [parent.id] } });
    await this.#untilDone(parent); // waits for a time, during which other jobs may overtake it
    return this.#attemptsOf(child);
  }

  /** Runs three jobs with a concurrency limit of one. Resolves to the number of attempts that each took. */
  async runKeyed(): Promise<number[]> {
    const keyed = { ...job, concurrency: { key: 'control', limit: 1 } };
    const jobs = await this.#send<readonly Job[]>('POST', '/jobs', [keyed, keyed, keyed]);
    const attempts: number[] = [];
    for (const one of jobs) attempts.push(await this.#attemptsOf(one));
    return attempts;
  }

  /**
   * Waits until a job that can run at once is done. Meanwhile, enqueues further jobs, one after the other.
   *
   * @returns the number of attempts that it took
   * @throws {Error} if {@link maxOvertaking} later jobs are done before it
   */
  async #attemptsOf({ id }: Pick<Job, 'id'>): Promise<number> {
    for (let overtaking = 0; overtaking <= maxOvertaking; overtaking += 1) {
      const { state, attempt } = await this.#find(id);
      if (state === 'done') return attempt;
      await this.#untilDone(await this.#send<Job>('POST', '/jobs', job));
    }
    const { state } = await this.#find(id);
    throw new Error(`Control job ${id} is ${state}, although more than ${maxOvertaking} later jobs are done`);
  }

  async #untilDone({ id }: Pick<Job, 'id'>): Promise<void> {
    await eventually(
      () => this.#find(id),
      ({ state }) => state === 'done',
    );
  }

  #find(id: string): Promise<Job> {
    return this.#send<Job>('GET', `/jobs/${id}`, undefined);
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
