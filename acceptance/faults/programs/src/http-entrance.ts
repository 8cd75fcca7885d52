import type { JobOrder, Order } from './job-order.js';

/** Request timeout, in milliseconds. */
const patienceMs = 15_000;

const isId = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

/** Thrown if a valid request was rejected as invalid, or if one idempotency key created several jobs. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

export interface Accepted {
  readonly what: 'job' | 'batch';
  readonly id: string;
}

/** Enqueues through the HTTP API. */
export class HttpEntrance {
  readonly #api: string;
  #latest: string | undefined;

  constructor(api: string) {
    this.#api = api;
  }

  /**
   * Sends an enqueue request to the API. Resolves once the API has accepted it.
   *
   * @throws {RefusedError} if the API rejects the request, or creates several jobs for one idempotency key
   */
  async enqueue(order: Order): Promise<Accepted> {
    const accepted = await this.#enqueue(order);
    this.#latest = accepted.id;
    return accepted;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #enqueue(order: Order): Promise<Accepted> {
    switch (order.kind) {
      case 'job':
        return { what: 'job', id: await this.#post('jobs', bodyOf(order.job)) };
      case 'continuation': {
        const after = this.#latest === undefined ? {} : { after: { parents: [this.#latest] } };
        return { what: 'job', id: await this.#post('jobs', { ...bodyOf(order.job), ...after }) };
      }
      case 'repeated': {
        // Ignores the order's delay. The job is ready immediately.
        const body = { name: order.job.name, args: order.job.args, idempotencyKey: order.key };
        const post = (): Promise<string> => this.#post('jobs', body);
        const ids = new Set<string>();
        for (const each of await Promise.allSettled([post(), post()])) {
          if (each.status === 'fulfilled') ids.add(each.value);
          else if (each.reason instanceof RefusedError) throw each.reason;
        }
        ids.add(await post());
        const [id = ''] = ids;
        if (ids.size > 1) throw new RefusedError(`one idempotency key gave ${[...ids].join(' and ')}`);
        return { what: 'job', id };
      }
      case 'batch': {
        const body = { jobs: order.jobs.map(bodyOf), callback: bodyOf(order.callback) };
        return { what: 'batch', id: await this.#post('batches', body) };
      }
    }
  }

  /**
   * Creates a resource in a collection and resolves to its id.
   *
   * @throws {RefusedError} if the status is 4xx other than 429
   */
  async #post(collection: string, body: object): Promise<string> {
    const response = await fetch(`${this.#api}/api/v1/${collection}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    if (response.status >= 400 && response.status < 500 && response.status !== 429)
      throw new RefusedError(`${response.status} ${text} to ${JSON.stringify(body)}`);
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    const id = isId.exec(response.headers.get('location') ?? text);
    if (id === null) throw new Error(`No id in ${text}`);
    return id[0];
  }
}

function bodyOf({ name, args, delayMs }: JobOrder): object {
  const later =
    delayMs === 0
      ? {}
      : delayMs % 2 === 0
        ? { delayMs }
        : { runAt: new Date(Date.now() + delayMs).toISOString() };
  const { key, limit } = args;
  return {
    name,
    args,
    ...later,
    ...(name === 'keyed' && { concurrency: { key, limit } }),
    ...(name === 'unique' && { unique: { key } }),
  };
}
