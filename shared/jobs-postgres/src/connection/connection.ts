import { TransactionEndedError } from '@longshore/jobs';
import type pg from 'pg';
import { codeOf, fromDriver, fromStorage } from './errors.js';
import { atOnce, canPipeline } from './pipeline.js';
import type { Schema } from './schema.js';
import type { Lending } from './session.js';
import { spoilsConnection } from './sql-states.js';
import { type Statement, unnamed } from './statement.js';
import { storedTypes } from './stored-value.js';

type Query = Statement & { readonly values?: unknown[] };

/** Identifies the transaction. Qualified, because it also runs with the settings of the application. */
const selectTransaction = 'select pg_catalog.pg_current_xact_id() as id';

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
  /** The id of the transaction while it is lent to the application. */
  #lentId: string | undefined;

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
    const [result, id] = await atOnce(this.client, () => [
      this.query<Row>(query),
      this.#apply(this.#lending?.lend),
    ]);
    this.#lentId = id;
    return result;
  }

  /**
   * Takes the connection back from the application and, in the same round trip, runs a statement of the storage. If the
   * transaction has ended, or the driver does not report whether it has, the statement takes a second round trip, so that it
   * cannot run outside of the transaction.
   *
   * @throws {TransactionEndedError} if the application has ended the transaction, even if it has begun another
   */
  async takeBackAndQuery<Row extends pg.QueryResultRow>(query: Query): Promise<pg.QueryResult<Row>> {
    if (!canPipeline(this.client) || statusOf(this.client) !== 'T') {
      await this.#takeBack();
      return this.query<Row>(query);
    }
    const [, result] = await atOnce(this.client, () => [this.#takeBack(), this.query<Row>(query)]);
    return result;
  }

  async #takeBack(): Promise<void> {
    const id = await this.#apply(this.#lending?.takeBack);
    if (id !== this.#lentId) throw new TransactionEndedError();
    this.#lentId = undefined;
  }

  /** Runs SQL that changes settings, and returns the id of the transaction. */
  async #apply(settings = ''): Promise<string> {
    const statements = [settings, selectTransaction].filter(Boolean).join('; ');
    const results: unknown = await fromDriver(this.client.query(statements));
    const [last] = [results].flat().slice(-1) as pg.QueryResult<{ id: string }>[];
    return last?.rows[0]?.id ?? '';
  }

  /**
   * Rolls back after an error. Returns the error to throw, and whether the connection is of no further use: if the rollback
   * failed, or because of the error. The session can have settings and locks of an application that has ended the transaction.
   */
  async rollBack(error: unknown): Promise<{ readonly reason: unknown; readonly isSpoiled: boolean }> {
    try {
      const isEnded = !(await this.#rolledBack()) && !(error instanceof TransactionEndedError);
      const reason = isEnded ? new TransactionEndedError({ cause: error }) : error;
      const isSpoiled = reason instanceof TransactionEndedError || spoilsConnection(codeOf(reason));
      return { reason, isSpoiled };
    } catch {
      return { reason: error, isSpoiled: true };
    }
  }

  /** Rolls back. Returns `false` if the application has ended the transaction that was lent to it. */
  async #rolledBack(): Promise<boolean> {
    const id = this.#lentId;
    if (id === undefined) {
      await this.client.query('rollback');
      return true;
    }
    if (statusOf(this.client) === 'I') return false;
    const status = `select pg_catalog.pg_xact_status('${id}'::pg_catalog.xid8) as status`;
    const results: unknown = await this.client.query(`rollback; ${status}`);
    const [, last] = results as pg.QueryResult<{ status: string }>[];
    return last?.rows[0]?.status === 'aborted';
  }
}

/** Returns the state of the transaction that Postgres reported last; `undefined` for drivers that do not provide it. */
function statusOf(client: object): string | null | undefined {
  const { getTransactionStatus: status } = client as { getTransactionStatus?: () => string | null };
  return status?.call(client);
}
