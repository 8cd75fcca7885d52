import type pg from 'pg';
import { fromDriver, fromStorage } from './errors.js';
import { atOnce } from './pipeline.js';
import type { Schema } from './schema.js';
import type { Lending } from './session.js';
import { type Statement, unnamed } from './statement.js';
import { storedTypes } from './stored-value.js';

type Query = Statement & { readonly values?: unknown[] };

interface ConnectionTraits {
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  /** Whether a pooler can run each transaction on a different connection. If so, statements are not prepared. */
  readonly isPooled: boolean;
  /** How the connection is lent to the application, if at all. */
  readonly lending?: Lending;
}

/** A connection borrowed for one transaction or session. Rewrites the storage's statements for the store's schema. */
export class Connection {
  /** The driver's client, for statements of handlers and callers. Runs SQL unchanged. */
  readonly client: pg.ClientBase;
  /** Whether the connection belongs to the application's pool; that pool has its own type parsers. */
  readonly isShared: boolean;
  readonly #isPooled: boolean;
  readonly #lending: Lending | undefined;
  readonly #schema: Schema;

  constructor(client: pg.ClientBase, schema: Schema, { isShared, isPooled, lending }: ConnectionTraits) {
    this.client = client;
    this.#schema = schema;
    this.isShared = isShared;
    this.#isPooled = isPooled;
    this.#lending = lending;
  }

  query<Row extends pg.QueryResultRow>(
    query: string | Query,
    values: unknown[] | undefined = typeof query === 'string' ? undefined : query.values,
  ): Promise<pg.QueryResult<Row>> {
    const { name, text } = this.#schema.statement(typeof query === 'string' ? unnamed(query) : query);
    const prepared = {
      text,
      ...(values !== undefined && { values }),
      ...(this.isShared && { types: storedTypes }),
      ...(name !== undefined && !this.#isPooled && { name }),
    };
    return fromStorage(this.client.query<Row>(prepared));
  }

  /** Runs a statement of the storage and, in the same round trip, lends the connection to the application. */
  async queryAndLend<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    const lend = this.#lending?.lend ?? '';
    const [result] = await atOnce(this.client, () => [
      this.query<Row>(query),
      fromDriver(this.client.query(lend)),
    ]);
    return result;
  }

  /** Takes the connection back from the application and, in the same round trip, runs a statement of the storage. */
  async takeBackAndQuery<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    const takeBack = this.#lending?.takeBack ?? '';
    const [, result] = await atOnce(this.client, () => [
      fromDriver(this.client.query(takeBack)),
      this.query<Row>(query),
    ]);
    return result;
  }
}
