import type pg from 'pg';
import { fromStorage } from './driver-errors.js';
import { guarded } from './foreign-session.js';
import type { Schema } from './schema.js';
import type { Guard } from './session.js';
import type { Statement } from './statement.js';
import { storedTypes } from './stored-value.js';

type Query = Statement & { readonly values?: unknown[] };

interface ConnectionTraits {
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  /** Whether a pooler can run each transaction on a different connection. If so, statements are not prepared. */
  readonly isPooled: boolean;
  /** Guards the storage's statements, if statements of the application run in the same transaction. */
  readonly guard?: Guard;
}

/** A connection borrowed for one transaction or session. Rewrites the storage's statements for the store's schema. */
export class Connection {
  /** The driver's client, for statements of handlers and callers. Runs SQL unchanged. */
  readonly client: pg.ClientBase;
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  readonly #isPooled: boolean;
  readonly #guard: Guard | undefined;
  readonly #schema: Schema;

  constructor(client: pg.ClientBase, schema: Schema, { isShared, isPooled, guard }: ConnectionTraits) {
    this.client = client;
    this.#schema = schema;
    this.isShared = isShared;
    this.#isPooled = isPooled;
    this.#guard = guard;
  }

  query<Row extends pg.QueryResultRow>(
    query: string | Query,
    values: unknown[] | undefined = typeof query === 'string' ? undefined : query.values,
  ): Promise<pg.QueryResult<Row>> {
    const statement = typeof query === 'string' ? { text: query } : query;
    const { name, text } = this.#schema.statement(statement);
    const prepared = {
      text,
      ...(values !== undefined && { values }),
      ...(this.isShared && { types: storedTypes }),
      ...(name !== undefined && !this.#isPooled && { name }),
    };
    const send = (): Promise<pg.QueryResult<Row>> => fromStorage(this.client.query<Row>(prepared));
    return this.#guard === undefined ? send() : guarded(this.client, this.#guard, send);
  }
}
