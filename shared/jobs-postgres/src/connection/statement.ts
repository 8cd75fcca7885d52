/** An SQL statement. If it has a name, each connection prepares it once, so the same name must always mean the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

const defined = new Map<string, string>();

/** Defines a statement that each connection prepares once. */
export function prepared(name: string, text: string): Statement {
  define(name, text);
  return { name, text };
}

/** Defines a statement that Postgres plans for the given values each time it runs. `name` is not sent, only recorded. */
export function unprepared(name: string, text: string): Statement {
  define(name, text);
  return { text };
}

/** Returns the texts of all statements defined so far, by name. */
export function staticStatements(): ReadonlyMap<string, string> {
  return defined;
}

function define(name: string, text: string): void {
  if (defined.has(name)) throw new Error(`Two statements are named ${name}`);
  defined.set(name, text);
}
