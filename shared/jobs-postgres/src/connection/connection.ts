import type pg from 'pg';
import type { Schema } from './schema.js';
import type { Statement } from './statement.js';
import { storedTypes } from './stored-value.js';

/** A statement, optionally with its parameters. */
type Query = Statement & { readonly values?: unknown[] };

/** How a connection differs from those that the storage opens without a pooler. */
interface Peculiarities {
  /** Whether it belongs to a pool of the application, which has its own parsers and statements. */
  readonly isShared: boolean;
  /** Whether the next transaction may run on a different connection, where a prepared statement is unknown. */
  readonly isPooled: boolean;
}

/** A connection that is lent for a transaction or a session. Renders the storage's statements for its schema. */
export class Connection {
  /** Runs SQL unchanged, for the statements of handlers and callers. */
  readonly client: pg.ClientBase;
  /** Whether it belongs to a pool of the application, which has its own parsers and statements. */
  readonly isShared: boolean;
  readonly #isPooled: boolean;
  readonly #schema: Schema;

  constructor(client: pg.ClientBase, schema: Schema, { isShared, isPooled }: Peculiarities) {
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
