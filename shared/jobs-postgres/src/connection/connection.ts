import type pg from 'pg';
import { fromStorage } from './driver-errors.js';
import type { Schema } from './schema.js';
import type { Statement } from './statement.js';
import { storedTypes } from './stored-value.js';

type Query = Statement & { readonly values?: unknown[] };

interface ConnectionTraits {
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  /** Whether a pooler can run each transaction on a different connection. If so, statements are not prepared. */
  readonly isPooled: boolean;
}

/** A connection borrowed for one transaction or session. Rewrites the storage's statements for the store's schema. */
export class Connection {
  /** The driver's client, for statements of handlers and callers. Runs SQL unchanged. */
  readonly client: pg.ClientBase;
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  readonly #isPooled: boolean;
  readonly #schema: Schema;

  constructor(client: pg.ClientBase, schema: Schema, { isShared, isPooled }: ConnectionTraits) {
    this.client = client;
    this.#schema = schema;
    this.isShared = isShared;
    this.#isPooled = isPooled;
  }

  query<Row extends pg.QueryResultRow>(
    query: string | Query,
    values: unknown[] | undefined = typeof query === 'string' ? undefined : query.values,
  ): Promise<pg.QueryResult<Row>> {
    const statement = typeof query === 'string' ? { text: query } : query;
    const { name, text } = this.#schema.statement(statement);
    const sent = this.client.query<Row>({
      text,
      ...(values !== undefined && { values }),
      ...(this.isShared && { types: storedTypes }),
      ...(name !== undefined && !this.#isPooled && { name }),
    });
    return fromStorage(sent);
  }
}
