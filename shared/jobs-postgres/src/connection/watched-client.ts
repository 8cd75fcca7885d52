import pg from 'pg';
import { connectionConfig, type DatabaseOptions } from './database-options.js';
import type { Settings } from './session.js';
import { destroy } from './watched-session.js';
import { type Watchdog, watchdogOf } from './watchdog.js';

/** The configuration of a {@link WatchedClient}. */
export interface WatchedConfig extends pg.ClientConfig {
  readonly watchdog: Watchdog;
  /** Maximum duration of a statement, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
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
    ready.then(
      () => super.connect(connected as (error: Error) => void),
      (error: unknown) => connected(error as Error),
    );
    return undefined;
  }

  async #prepare(): Promise<void> {
    const { watchdog, statementTimeoutMs } = this.#config;
    watchdog.requireResponsive();
    watchdog.watch(this, statementTimeoutMs);
    try {
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
