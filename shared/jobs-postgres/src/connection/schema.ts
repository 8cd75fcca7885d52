import { createHash } from 'node:crypto';
import type { OtherForm, Statement } from './statement.js';

/** The schema for which statements and migrations are written. */
export const defaultSchema = 'longshore';

/** A reference to the schema: in a literal, as the whole literal, in the name of a server's transaction, or as a qualifier. */
const references = /'longshore(?=[.'])|'longshore(?= for )|\blongshore(?=\.)/g;

/** The schema that holds the tables of one store. Renders SQL, which is written for `longshore`, for this schema. */
export class Schema {
  readonly name: string;
  readonly #isDefault: boolean;
  readonly #otherFormOf: OtherForm | undefined;
  /** Weak, because searches build new statements for each request. */
  readonly #rendered = new WeakMap<Statement, Statement>();

  /**
   * @param name lowercase letters, digits and underscores, as checked by {@link checkSchema}
   * @param otherFormOf returns the statements to send instead of those given, for a distributed store
   */
  constructor(name: string, otherFormOf?: OtherForm) {
    this.name = name;
    this.#isDefault = name === defaultSchema;
    this.#otherFormOf = otherFormOf;
  }

  /** Whether the tables are spread over several nodes. */
  get isDistributed(): boolean {
    return this.#otherFormOf !== undefined;
  }

  /**
   * Returns the application name of a server's connection while it keeps rows locked for longer than one statement. Differs
   * between schemas, because a store ends the transactions of servers that it does not know. Postgres keeps 63 characters.
   */
  transactionName(serverId: string): string {
    return `${this.#application} for ${serverId}`;
  }

  statement(statement: Statement): Statement {
    if (this.#isDefault && this.#otherFormOf === undefined) return statement;
    let rendered = this.#rendered.get(statement);
    if (rendered === undefined) {
      const { name, text } = this.#otherFormOf?.(statement) ?? statement;
      // Stores with different schemas may share a pool, on whose connections a name stands for one statement.
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

/**
 * Checks the name of a schema.
 *
 * @throws {RangeError} if it is not a valid name
 */
export function checkSchema(name: unknown): string {
  if (typeof name === 'string' && /^(?!pg_)[a-z_][a-z0-9_]{0,58}$/.test(name)) return name;
  throw new RangeError(
    `schema must have 1 to 59 lowercase letters, digits and underscores, and not begin with a digit or pg_; it is ${JSON.stringify(name)}`,
  );
}
