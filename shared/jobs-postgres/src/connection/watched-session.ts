import type pg from 'pg';

/** The state of a session that the server does not have. */
export const gone = 'gone';

/** What is read of the driver's client. */
interface Client {
  /** `false` while a statement runs; `undefined` before the connection is open. */
  readonly readyForQuery?: boolean;
  readonly _ending?: boolean;
  readonly processID?: number | null;
  readonly connection?: { readonly stream?: Stream };
}

interface Stream {
  readonly bytesRead?: number;
  readonly bytesWritten?: number;
  readonly writableLength?: number;
  destroy(error?: Error): void;
}

/**
 * How many probes must find that the server is idle in a session that waits. One is not enough, because the answer may
 * be on its way.
 */
const maxDoubts = 2;

/** One connection as seen by the {@link Watchdog}: how long it has owed an answer without sending or receiving anything. */
export class WatchedSession {
  readonly #client: Client;
  /** Maximum duration of a statement, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** For how many ticks the session has been silent. */
  ticks = 0;
  /** For how many ticks the session has received nothing, whether it was to receive anything or not. */
  unheardTicks = 0;
  /** Whether the server has said that it runs the statement for which the session waits. */
  isRunning = false;
  #bytes = -1;
  #received = -1;
  #marked = 0;
  #markedRead = 0;
  #doubts = 0;

  constructor(client: pg.ClientBase, statementTimeoutMs: number) {
    this.#client = client as Client;
    this.statementTimeoutMs = statementTimeoutMs;
    this.mark(); // in case a probe is under way
  }

  /** The process id of the backend; `null` until the connection is open. */
  get pid(): number | null {
    return this.#client.processID ?? null;
  }

  /** Whether the connection has been opened and is not being closed. */
  get isOpen(): boolean {
    return this.pid !== null && this.#client._ending !== true;
  }

  /** Counts a tick. Returns for how many the session has been silent. */
  tick(): number {
    const bytes = this.#moved;
    const isSilent = bytes === this.#bytes && this.#owes;
    this.#bytes = bytes;
    this.unheardTicks = this.#read === this.#received ? this.unheardTicks + 1 : 0;
    this.#received = this.#read;
    if (isSilent) this.ticks += 1;
    else this.#reset();
    return this.ticks;
  }

  /** Remembers what has been sent and received so far, see {@link hasProgressed} and {@link hasHeard}. */
  mark(): void {
    this.#marked = this.#moved;
    this.#markedRead = this.#read;
  }

  /** Whether anything has been sent or received since {@link mark}. */
  get hasProgressed(): boolean {
    return this.#moved !== this.#marked;
  }

  /** Whether anything has been received since {@link mark}. */
  get hasHeard(): boolean {
    return this.#read !== this.#markedRead;
  }

  /**
   * Returns whether the session will never be answered.
   *
   * @param states what the server does, by process id; `undefined` if unknown
   * @param maxConnectTicks how long opening the connection, or closing it, may take
   */
  isLost(states: ReadonlyMap<number, string> | undefined, maxConnectTicks: number): boolean {
    const { pid } = this;
    if (pid === null || !this.isOpen) return this.ticks >= maxConnectTicks;
    const state = states?.get(pid);
    if (state === gone) return true;
    if (state === undefined || this.ticks === 0) return false;
    this.isRunning = !state.startsWith('idle');
    this.#doubts = this.isRunning ? 0 : this.#doubts + 1;
    return this.#doubts >= maxDoubts;
  }

  close(error: Error): void {
    destroy(this.#client, error);
  }

  /** Whether the server owes an answer: to a statement, or to opening or closing the connection. */
  get #owes(): boolean {
    return this.#client.readyForQuery !== true || this.#client._ending === true;
  }

  /** The number of bytes that have been received, or handed to the operating system. */
  get #moved(): number {
    const { bytesRead = 0, bytesWritten = 0, writableLength = 0 } = this.#client.connection?.stream ?? {};
    return bytesRead + bytesWritten - writableLength;
  }

  get #read(): number {
    return this.#client.connection?.stream?.bytesRead ?? 0;
  }

  #reset(): void {
    this.ticks = 0;
    this.#doubts = 0;
    this.isRunning = false;
  }
}

/** Closes a client's socket immediately, because the driver's `end` would wait for the server. */
export function destroy(client: object, error?: Error): void {
  const { connection } = client as Client;
  connection?.stream?.destroy(error);
}
