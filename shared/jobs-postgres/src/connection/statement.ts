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

/** Returns the form of a statement for a distributed store: another one, or the same. */
export type OtherForm = (statement: Statement) => Statement;

let otherForm: OtherForm | undefined;

/** Sets where distributed stores find the forms of statements. The forms are built from statements, so these cannot import them. */
export function setOtherForms(form: OtherForm): void {
  otherForm = form;
}

/** Returns the form of a statement for a distributed store. */
export const distributedForm: OtherForm = (statement) => {
  if (otherForm === undefined)
    throw new Error('The forms of statements for a distributed store are not loaded');
  return otherForm(statement);
};
