import { createHash } from 'node:crypto';
import type { Distribution, Statement } from './statement.js';

/** What is sent to Postgres: a statement in one of its forms. */
type Rendered = Pick<Statement, 'name' | 'text'>;

/**
 * The default schema name. Statements and migrations contain this name in the source code, and are rewritten for other
 * schemas.
 */
export const defaultSchema = 'longshore';

/**
 * Matches references to the schema: the literals `'longshore'` and `'longshore.…'`, the application name `'longshore
 * for …'` of a server's transaction, and the qualifier `longshore.`.
 */
const references = /'longshore(?=[.'])|'longshore(?= for )|\blongshore(?=\.)/g;

/**
 * The schema that contains the tables of one store. All SQL in the source code is written for the schema `longshore`;
 * this class rewrites it.
 */
export class Schema {
  readonly name: string;
  readonly #isDefault: boolean;
  readonly #distribution: Distribution;
  /**
   * Maps original statements to statements rewritten for this schema. Weak, because searches build new statements for
   * each request.
   */
  readonly #rendered = new WeakMap<Statement, Rendered>();

  /**
   * @param name lowercase letters, digits and underscores, as `databaseOptions` checks it
   * @param distribution which form of each statement is sent
   */
  constructor(name: string, distribution: Distribution = 'none') {
    this.name = name;
    this.#isDefault = name === defaultSchema;
    this.#distribution = distribution;
  }

  /** Whether the tables are spread over several nodes. */
  get isDistributed(): boolean {
    return this.#distribution !== 'none';
  }

  /**
   * Returns the application name of a connection while it runs a server's transaction. If the server dies, its
   * transaction is found by this name and ended. The name differs between schemas, because a store terminates
   * transactions of servers that it does not know. Schema names other than the default are hashed, because Postgres
   * keeps only 63 characters of an application name.
   */
  transactionName(serverId: string): string {
    return `${this.#application} for ${serverId}`;
  }

  /** Returns what to send for a statement: its form for this distribution, written for this schema. */
  statement(statement: Statement): Rendered {
    const { name, citus } = statement;
    if (this.#isDefault && (this.#distribution === 'none' || citus === undefined)) return statement;
    let rendered = this.#rendered.get(statement);
    if (rendered === undefined) {
      const text = this.#distribution === 'citus' && citus !== undefined ? citus : statement.text;
      // Statement names differ between schemas, because stores can share a pool, and a connection prepares only one
      // text under each name.
      rendered = { text: this.render(text), ...(name !== undefined && { name: this.#nameOf(name) }) };
      this.#rendered.set(statement, rendered);
    }
    return rendered;
  }

  #nameOf(statement: string): string {
    return this.#isDefault ? statement : `${statement}-${this.#hash}`;
  }

  render(sql: string): string {
    if (this.#isDefault) return sql;
    return sql.replaceAll(references, (found, at: number) => {
      if (!found.startsWith("'")) return `"${this.name}"`;
      return `'${sql.startsWith("'longshore for ", at) ? this.#application : this.name}`;
    });
  }

  get #application(): string {
    if (this.#isDefault) return defaultSchema;
    return `longshore-${this.#hash}`;
  }

  get #hash(): string {
    return createHash('sha256').update(this.name).digest('hex').slice(0, 8);
  }
}
