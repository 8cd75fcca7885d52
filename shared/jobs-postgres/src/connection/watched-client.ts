import pg from 'pg';
import { type ClientConfig, connectionConfig, type DatabaseOptions } from './database-options.js';
import type { Settings } from './session.js';
import { renewCredentials } from './url-file.js';
import { destroy } from './watched-session.js';
import { type Watchdog, watchdogOf } from './watchdog.js';

/** The configuration of a {@link WatchedClient}. */
export interface WatchedConfig extends ClientConfig {
  readonly watchdog: Watchdog;
  /** Maximum duration of a statement, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** Counts the connections that are opened; by default, nothing does. */
  readonly connects?: ConnectCount;
}

/** The connections that a pool has opened. */
export class ConnectCount {
  #opened = 0;
  #failed = 0;
  #totalMs = 0;

  get opened(): number {
    return this.#opened;
  }

  get failed(): number {
    return this.#failed;
  }

  /** How long opening connections took in total, failures included, in milliseconds. */
  get totalMs(): number {
    return this.#totalMs;
  }

  /** Returns a function that counts a connection that is being opened from now on: call it with whether that succeeded. */
  begin(): (isOpen: boolean) => void {
    const startedAt = performance.now();
    return (isOpen) => {
      if (isOpen) this.#opened += 1;
      else this.#failed += 1;
      this.#totalMs += performance.now() - startedAt;
    };
  }
}

type Connected = (error?: Error | null, client?: pg.Client) => void;

/**
 * A client that a {@link Watchdog} closes if it will never be answered. Fails to connect at once while the server is
 * known not to respond. All connections that the storage opens use this class.
 */
export class WatchedClient extends pg.Client {
  readonly #config: WatchedConfig;

  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.#config = config as WatchedConfig;
  }

  override connect(): Promise<this>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<this> | undefined {
    const ready = this.#prepare();
    if (connected === undefined) return ready.then(() => super.connect()).then(() => this);
    const count = this.#config.connects?.begin();
    const counted: Connected = (error) => {
      count?.(error === undefined || error === null);
      connected(error, this);
    };
    ready.then(
      () => super.connect(counted as (error: Error) => void),
      (error: unknown) => counted(error as Error),
    );
    return undefined;
  }

  async #prepare(): Promise<void> {
    const { watchdog, statementTimeoutMs } = this.#config;
    watchdog.requireResponsive();
    watchdog.watch(this, statementTimeoutMs);
    try {
      await renewCredentials(this, this.#config);
      if (watchdog.hosts !== undefined) await watchdog.hosts.aim(this);
    } catch (error) {
      watchdog.unwatch(this);
      destroy(this);
      throw error;
    }
  }
}

/** Returns the `pg` configuration of a watched connection, see {@link connectionConfig}. */
export function watchedConfig(options: DatabaseOptions, settings: Settings): WatchedConfig {
  const { statementTimeoutMs } = options;
  return { ...connectionConfig(options, settings), watchdog: watchdogOf(options), statementTimeoutMs };
}
