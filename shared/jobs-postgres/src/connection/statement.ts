/** A statement of the store. One with a name is prepared once per connection, so a name always stands for the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

const defined = new Map<string, string>();

/** Defines a statement that each connection prepares under its name. */
export function prepared(name: string, text: string): Statement {
  define(name, text);
  return { name, text };
}

/** Defines a statement that is planned for its values each time it runs; `name` only labels it. */
export function unprepared(name: string, text: string): Statement {
  define(name, text);
  return { text };
}

/** Returns the static statements of the loaded modules: their texts, by name. */
export function staticStatements(): ReadonlyMap<string, string> {
  return defined;
}

function define(name: string, text: string): void {
  if (defined.has(name)) throw new Error(`Two statements are named ${name}`);
  defined.set(name, text);
}
