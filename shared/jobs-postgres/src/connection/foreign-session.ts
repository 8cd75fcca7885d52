import type { TransactionClient } from '@longshore/jobs';
import { allOf, atOnce, canPipeline } from './pipeline.js';
import type { Schema } from './schema.js';
import { entersSession, leavesSession, meaning } from './session.js';
import { rowsOf } from '../drivers/check-transaction.js';

/**
 * Runs statements of the storage in a caller's transaction, so that they mean the same as elsewhere, and leaves the
 * settings of the session as they were. With an idle client of `pg`, this takes one round trip for each statement. Other drivers
 * cannot send several statements at once. With these, the session is examined once, which takes another round trip, and
 * settings are only changed if one has a value that matters.
 */
export class CallersSession {
  readonly #transaction: TransactionClient;
  readonly #enters: string;
  readonly #leaves: string;
  #deviates: Promise<boolean> | undefined;

  constructor(transaction: TransactionClient, schema: Schema) {
    this.#transaction = transaction;
    this.#enters = schema.statement(entersSession).text;
    this.#leaves = schema.statement(leavesSession).text;
  }

  async query(text: string, values: unknown[]): Promise<readonly unknown[]> {
    const transaction = this.#transaction;
    if (isQueueing(transaction)) return this.#queued(text, values);
    this.#deviates ??= transaction.query(selectSettings).then((result) => deviates(rowsOf(result)[0]));
    if (!(await this.#deviates)) return rowsOf(await transaction.query(text, values));
    await transaction.query(this.#enters);
    const result = await transaction.query(text, values); // after an error, the rollback restores the settings
    await transaction.query(this.#leaves);
    return rowsOf(result);
  }

  /** Hands the statements to the client at once, so that none of the application's runs between them. */
  async #queued(text: string, values: unknown[]): Promise<readonly unknown[]> {
    const client = this.#transaction;
    const send = (): readonly [Promise<unknown>, Promise<unknown>, Promise<unknown>] => [
      client.query(this.#enters),
      client.query(text, values),
      client.query(this.#leaves),
    ];
    const [, result] = canPipeline(client) ? await atOnce(client, send) : await allOf(send());
    return rowsOf(result);
  }
}

/** Returns whether an object is a client of `pg`, which runs statements in the order in which it is given them. */
function isQueueing(client: object): boolean {
  return typeof (client as { readonly pipeline?: unknown }).pipeline === 'boolean';
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
