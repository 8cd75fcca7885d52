import type pg from 'pg';
import type { Schema } from './schema.js';
import type { Statement } from './statement.js';
import { storedTypes } from './stored-value.js';

/** A statement, optionally with its parameters. */
type Query = Statement & { readonly values?: unknown[] };

/** Properties that affect how statements are sent on a connection. */
interface ConnectionTraits {
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  /**
   * Whether a pooler can run each transaction on a different connection. Statements are then not prepared, because the
   * next connection would not have them.
   */
  readonly isPooled: boolean;
}

/** A connection borrowed for one transaction or session. Rewrites the storage's statements for the store's schema. */
export class Connection {
  /** The driver's client. Runs SQL unchanged; used for the statements of handlers and callers. */
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
    return this.client.query<Row>({
      text,
      ...(values !== undefined && { values }),
      ...(this.isShared && { types: storedTypes }),
      ...(name !== undefined && !this.#isPooled && { name }),
    });
  }
}
