import type { OperationJobs } from '@longshore/edge';
import type { Database, Transaction } from '../database/database.js';

/** The authenticated caller, as the `authenticate` hook returns it. */
export interface Principal {
  /**
   * Identifies the caller. Callers with the same name share rate limits and idempotency keys. Appears in logs, so it
   * must not be a secret.
   */
  readonly name: string;
  /**
   * The caller's permissions. `scopeOf` determines which scope a call needs. `admin` allows every call, and makes stack
   * traces visible.
   */
  readonly scopes: readonly string[];
  /**
   * If set, the caller sees only rows with one of these values. The API's `rowScopes` name the field that is compared.
   * If undefined, the caller sees all rows.
   */
  readonly rowScope?: readonly string[];
}

/** Information about the current call, passed to every storage function. */
export interface CallContext {
  readonly requestId: string;
  /** The authenticated caller; undefined if the API has no `authenticate` hook. */
  readonly principal: Principal | undefined;
  /**
   * Identifies the caller for quotas: the principal's name or, if the API needs no credentials, the network address. An
   * IPv6 caller is identified by its network.
   */
  readonly caller: string;
  /** The network address of the client, as the application sees it. */
  readonly address: string;
  /** The parent items in the path, outermost first: `/customers/7/orders` → `[{ resource: 'customers', id: '7' }]`. */
  readonly parents: readonly { readonly resource: string; readonly id: string }[];
  /**
   * Field values that the path prescribes: `/queues/mail/jobs` → `{ queue: 'mail' }`. The toolkit adds them to the
   * filters of queries. It also checks them on items that `get` returns.
   */
  readonly parentFields: Readonly<Record<string, unknown>>;
  /** The reason that the caller gave for a DELETE. Undefined if there is none, and for other methods. */
  readonly reason?: string | undefined;
  /**
   * The transaction that writes the idempotency record. Undefined if the request has no `Idempotency-Key`, if the call
   * does not accept one, or if the idempotency store has no transactions. Changes that a storage makes in this
   * transaction happen only once. Other changes can happen again if the process crashes and the client repeats the
   * request. Do not take another connection from the same pool while the transaction is open.
   */
  readonly transaction?: Transaction;
  /**
   * The values of the rows that the caller may see, as in {@link Principal}; `null` if it may see all rows. The toolkit
   * applies the scope to the items of this resource. The storage must apply it to other items that a call refers to.
   */
  readonly rowScope: readonly string[] | null;
}

/** The services that the process provides for storages. */
export interface Platform {
  readonly database: Database;
  /** The database for GET on collections and items, such as a replica; default: `database`. */
  readonly reads?: Database;
  /**
   * Returns the functions with which an operation enqueues jobs in its transaction, such as `(transaction) =>
   * client.boundTo(() => ({ transaction }))` with a `JobClient`. Each resolves to an object with the `id` of the job, to a
   * list of these, or to a batch: `{ jobs, callback }`. Required if an operation of a table declares `enqueues`.
   */
  readonly jobs?: (transaction: Transaction) => OperationJobs;
  /** Time limit for each statement that searches a table, in milliseconds; 1,000 by default. */
  readonly searchTimeoutMs?: number;
}
