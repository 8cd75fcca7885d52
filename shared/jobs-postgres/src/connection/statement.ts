/** How the tables are stored. `citus` spreads them over the nodes of a Citus cluster. */
export type Distribution = 'none' | 'citus';

/**
 * An SQL statement. If it has a name, each connection prepares it once under that name, so a name must always stand for
 * the same text.
 */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  /**
   * The second form of the statement, for a Citus cluster, with the same parameters and columns; `undefined` if Citus
   * runs `text` as well (docs/adr/025).
   */
  readonly citus: string | undefined;
}

/** What a single Postgres and a Citus cluster need instead of each other: parts of SQL, or functions that return them. */
export type Forms<Part> = Readonly<Record<Distribution, Part>>;

const defined = new Map<string, Statement>();

/** Defines a statement that each connection prepares once. */
export function prepared(name: string, text: string, citus?: string): Statement {
  return define(name, { name, text, citus });
}

/** Defines a statement that Postgres plans for the given values each time it runs. The name is not sent to Postgres. */
export function unprepared(name: string, text: string, citus?: string): Statement {
  return define(name, { text, citus });
}

/** Returns a statement without a name, which is not among the {@link staticStatements}. */
export function unnamed(text: string): Statement {
  return { text, citus: undefined };
}

/** Returns all statements defined so far, by name. */
export function staticStatements(): ReadonlyMap<string, Statement> {
  return defined;
}

function define(name: string, statement: Statement): Statement {
  if (defined.has(name)) throw new Error(`Two statements are named ${name}`);
  defined.set(name, statement);
  return statement;
}
