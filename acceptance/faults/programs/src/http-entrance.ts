import type { JobOrder } from './job-order.js';

/** No answer within this time is none. */
const patienceMs = 15_000;

/** Enqueues through the HTTP API. */
export class HttpEntrance {
  readonly #api: string;

  constructor(api: string) {
    this.#api = api;
  }

  /** Resolves to the job's id when the API has accepted it. */
  async enqueue({ name, args, delayMs }: JobOrder): Promise<string> {
    const later = delayMs === 0 ? {} : { runAt: new Date(Date.now() + delayMs).toISOString() };
    const response = await fetch(`${this.#api}/api/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name, args, ...later }),
      signal: AbortSignal.timeout(patienceMs),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/.exec(response.headers.get('location') ?? text);
    if (id === null) throw new Error(`No id in ${text}`);
    return id[0];
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
