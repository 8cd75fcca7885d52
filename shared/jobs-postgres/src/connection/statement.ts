/**
 * An SQL statement. If it has a name, each connection prepares it once under that name, so a name must always stand for
 * the same text.
 */
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

/** Defines a statement that Postgres plans for the given values each time it runs. The name is not sent to Postgres. */
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

/** Maps a statement to its form for a distributed store; returns the statement itself if there is no other form. */
export type DistributedForm = (statement: Statement) => Statement;

let otherForm: DistributedForm | undefined;

/**
 * Sets the function that maps statements to their distributed forms. Injected, because importing the modules with the
 * forms here would be circular.
 */
export function setDistributedForms(form: DistributedForm): void {
  otherForm = form;
}

/**
 * Returns the form of a statement for a distributed store.
 *
 * @throws {Error} if {@link setDistributedForms} has not been called
 */
export const distributedForm: DistributedForm = (statement) => {
  if (otherForm === undefined)
    throw new Error('The forms of statements for a distributed store are not loaded');
  return otherForm(statement);
};
