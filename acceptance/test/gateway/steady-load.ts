import { Agent, request } from 'node:http';

/** Maximum number of unanswered requests. Further ones are left out, so that a slow machine is not swamped. */
const maxOpen = 50;

/** Sends requests at a fixed rate. Every other one enqueues a job. */
export class SteadyLoad {
  answered = 0;
  readonly failures: string[] = [];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #port: number;
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<Promise<void>>();
  #sent = 0;

  /** @param port the port of the gateway on this machine */
  constructor(port: number, requestsPerSecond: number) {
    this.#port = port;
    this.#timer = setInterval(() => {
      if (this.#open.size < maxOpen) this.#send(this.#sent++ % 2 === 0);
    }, 1_000 / requestsPerSecond);
  }

  /** Stops sending, and waits for the answers. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#agent.destroy();
  }

  #send(enqueues: boolean): void {
    const sending = this.#exchange(enqueues).then(
      (status) => {
        this.answered += 1;
        if (status < 200 || status > 299) this.#fail(`${status}`, enqueues);
      },
      (error: unknown) => this.#fail(String(error), enqueues),
    );
    this.#open.add(sending);
    void sending.finally(() => this.#open.delete(sending));
  }

  #fail(what: string, enqueues: boolean): void {
    this.failures.push(`${enqueues ? 'POST' : 'GET'}: ${what}`);
  }

  #exchange(enqueues: boolean): Promise<number> {
    const body = enqueues ? JSON.stringify({ name: 'test', args: { waitMs: 1 } }) : '';
    return new Promise((resolve, reject) => {
      const sent = request({
        agent: this.#agent,
        host: '127.0.0.1',
        port: this.#port,
        path: enqueues ? '/api/v1/jobs' : '/api/v1/jobs?limit=1',
        method: enqueues ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      });
      sent.on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });
  }
}
