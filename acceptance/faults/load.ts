import { run, type Running } from '../test/system/process.js';

/** An accepted job or batch, and the times at which its request began and ended, as ISO 8601 texts. */
export interface Accepted {
  readonly id: string;
  readonly from: string;
  readonly until: string;
}

const programs = 'acceptance/faults/programs/dist';

/** Client processes that enqueue continuously, over HTTP and from SQL, and operators who retry and cancel jobs over HTTP. */
export class Load {
  readonly #clients: readonly Running[];
  /** The accepted jobs that this process itself has enqueued. */
  readonly #own: Accepted[] = [];

  /** @param rate total requests per second from all enqueuers; the operators' come on top */
  constructor(apis: readonly string[], databaseUrl: string, seed: number, rate: number) {
    const http = apis.map((url, index) => ['http', url, String(seed + index)]);
    const sql = [1, 2].map((index) => ['sql', databaseUrl, String(seed + 1_000 + index)]);
    const all = [...http, ...sql];
    this.#clients = [
      ...all.map((args) => run(`${programs}/enqueuer.js`, [...args, String(rate / all.length)])),
      ...apis.map((url, index) =>
        run(`${programs}/operator.js`, [url, databaseUrl, String(seed + 2_000 + index)]),
      ),
    ];
  }

  /** Records a job that this process has enqueued, and returns its id. */
  accept(accepted: Accepted): string {
    this.#own.push(accepted);
    return accepted.id;
  }

  /** All accepted jobs. */
  get jobs(): Accepted[] {
    return [...this.#own, ...this.#linesWith('job ').map(acceptedOf)];
  }

  /** All accepted batches. */
  get batches(): Accepted[] {
    return this.#linesWith('batch ').map(acceptedOf);
  }

  /** Ids of all jobs and batches that operators have tried to cancel. */
  get toCancel(): string[] {
    return this.#linesWith('to cancel ');
  }

  /** Descriptions of valid requests that were rejected, and of repeated requests that created more than one job. */
  get refused(): string[] {
    return this.#linesWith('refused ');
  }

  /**
   * Stops all clients once their pending requests have ended. Resolves to a description of each client that failed.
   */
  async stop(): Promise<string[]> {
    const endings = await Promise.all(this.#clients.map((client) => client.end('SIGTERM')));
    return endings.flatMap((ending, index) =>
      ending === 'exit 0' ? [] : [`${ending}: ${this.#clients[index]?.lines.slice(-8).join('\n')}`],
    );
  }

  async kill(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end('SIGKILL')));
  }

  #linesWith(prefix: string): string[] {
    return this.#clients.flatMap(({ lines }) =>
      lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length)),
    );
  }
}

function acceptedOf(line: string): Accepted {
  const [id = '', from = '', until = ''] = line.split(' ');
  return { id, from, until };
}
