import { eventually } from '../test/system/eventually.js';

/** What the suite reads of a job. */
interface Job {
  readonly id: string;
  readonly state: string;
  readonly createdAt: string;
  readonly finishedAt: string | null;
}

interface Queue {
  readonly name: string;
  readonly counts: Readonly<Record<string, number>>;
}

const job = { name: 'greet', args: { name: 'control' } };

/** Honest work after the storm: whether the platform still moves. */
export class Control {
  readonly #api: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(apiUrl: string, headers: Readonly<Record<string, string>>) {
    this.#api = `${apiUrl}/api/v1`;
    this.#headers = { ...headers, 'content-type': 'application/json' };
  }

  /** Undoes what legal requests have ordered: paused queues and limits. Then waits until the queue of control jobs is empty. */
  async clear(deadlineMs: number): Promise<void> {
    for (const { name } of await this.#get<readonly Queue[]>('/queues?limit=1000')) {
      const place = `/queues/${encodeURIComponent(name)}`;
      await this.#send('PATCH', place, { concurrencyLimit: null, rateLimit: null });
      await this.#send('PUT', `${place}/resume`, undefined);
    }
    await eventually(async () => {
      const { counts } = await this.#get<Queue>('/queues/default');
      return (counts['enqueued'] ?? 0) + (counts['processing'] ?? 0) < 5;
    }, deadlineMs);
  }

  async runJob(): Promise<number> {
    return this.#lasted(await this.#send<Job>('POST', '/jobs', job));
  }

  async runBatch(): Promise<number> {
    const batch = await this.#send<{ id: string }>('POST', '/batches', {
      jobs: [job, job, job],
      followUp: job,
    });
    const jobs = await eventually(async () => {
      const { followUpId } = await this.#get<{ followUpId?: string | null }>(`/batches/${batch.id}`);
      const all = await this.#get<readonly Job[]>(`/batches/${batch.id}/jobs`);
      return all.every(({ state }) => state === 'done') ? { all, followUpId } : null;
    }, 10_000);
    return Math.max(...(jobs?.all ?? []).map(tookMs));
  }

  async runContinuation(): Promise<number> {
    const parent = await this.#send<Job>('POST', '/jobs', { ...job, delayMs: 300 });
    return this.#lasted(await this.#send<Job>('POST', '/jobs', { ...job, after: { parents: [parent.id] } }));
  }

  /** Three jobs of which one runs at a time. */
  async runKeyed(): Promise<number> {
    const keyed = { ...job, concurrency: { key: 'control', limit: 1 } };
    const jobs = await this.#send<readonly Job[]>('POST', '/jobs', [keyed, keyed, keyed]);
    return Math.max(...(await Promise.all(jobs.map((one) => this.#lasted(one)))));
  }

  async #lasted({ id }: Job): Promise<number> {
    const done = await eventually(async () => {
      const now = await this.#get<Job>(`/jobs/${id}`);
      return now.state === 'done' ? now : null;
    }, 10_000);
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
