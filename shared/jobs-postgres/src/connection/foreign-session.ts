import type { TransactionClient } from '@longshore/jobs';
import type pg from 'pg';
import { fromDriver } from './driver-errors.js';
import { canPipeline, pipelined } from './pipeline.js';
import { type Guard, guardOf, meaning } from './session.js';
import { rowsOf } from '../drivers/check-transaction.js';

/**
 * Sends a statement of the storage in a transaction of the application, and guards it (see {@link Guard}). All
 * statements are sent at once.
 *
 * @param send must call the driver before it returns
 */
export async function guarded<Result>(
  client: Pick<pg.ClientBase, 'query'>,
  { apply, restore }: Guard,
  send: () => Promise<Result>,
): Promise<Result> {
  const [applied, sent, restored] = await pipelined(client as pg.ClientBase, () =>
    Promise.allSettled([
      fromDriver(client.query(apply.join('; '))),
      send(),
      fromDriver(client.query(restore)),
    ]),
  );
  for (const result of [applied, sent, restored]) if (result.status === 'rejected') throw result.reason;
  return (sent as PromiseFulfilledResult<Result>).value;
}

const callersGuard = guardOf(meaning);

/**
 * Runs statements of the storage in a caller's transaction. With a client of `pg`, each statement is guarded in the same
 * round trip. Other drivers cannot send several statements at once. With these, the session is examined once, and its
 * statements are only guarded if a setting has a value that matters.
 */
export class CallersSession {
  readonly #transaction: TransactionClient;
  #deviates: Promise<boolean> | undefined;

  constructor(transaction: TransactionClient) {
    this.#transaction = transaction;
  }

  async query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    const transaction = this.#transaction;
    const send = async (): Promise<readonly unknown[]> => rowsOf(await transaction.query(text, values));
    if (canPipeline(transaction)) return guarded(transaction, callersGuard, send);
    this.#deviates ??= transaction.query(selectSettings).then((result) => deviates(rowsOf(result)[0]));
    if (!(await this.#deviates)) return send();
    for (const statement of callersGuard.apply) await transaction.query(statement);
    const rows = await send();
    // After an error, the rollback restores the settings.
    await transaction.query(callersGuard.restore);
    return rows;
  }
}

const selectSettings = `select ${Object.keys(meaning)
  .map((name) => `pg_catalog.current_setting('${name}') as ${name}`)
  .join(', ')}`;

/** Returns whether one of the settings has a value that changes what the storage's statements mean or return. */
function deviates(row: unknown): boolean {
  return Object.entries(row as Readonly<Record<string, string>>).some(
    ([name, value]) => !(harmless[name]?.test(value) ?? value === meaning[name]),
  );
}

/** Other values that make no difference. Postgres searches `pg_catalog` first unless the path says otherwise. */
const harmless: Readonly<Record<string, RegExp>> = {
  search_path: /^(?!.*pg_catalog)|^pg_catalog\b/,
  datestyle: /^ISO\b/,
  timezone: /^/,
  extra_float_digits: /^[1-3]$/,
};
