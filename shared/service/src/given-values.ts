import { readFileSync } from 'node:fs';
import type { TObject } from 'typebox';

/** The variable with the path of a secret's file has the secret's name and this suffix. */
const fileSuffix = '_FILE';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of variables as they were given, and what is wrong with how they were given. */
interface GivenValues {
  /** By variable. `file` is the path of the file that contains the value. */
  readonly values: Readonly<Record<string, { readonly text: string; readonly file?: string }>>;
  /** Sentences without a full stop. */
  readonly problems: readonly string[];
  /** The variables whose file cannot be read. */
  readonly unreadable: readonly string[];
}

/** Returns the variables of a schema that are secrets, and are also accepted as files. */
export function secretsOf(schema: TObject): string[] {
  return marked(schema, 'secret');
}

/** Returns the secrets of a schema whose files are read again by what uses them. */
export function rereadOf(schema: TObject): string[] {
  return marked(schema, 'reread');
}

function marked(schema: TObject, mark: string): string[] {
  return Object.entries(schema.properties).flatMap(([name, definition]) =>
    Reflect.get(definition, mark) === true ? [name] : [],
  );
}

/** Returns the names of all environment variables that a schema accepts. */
export function variableNames(schema: TObject): string[] {
  return [...Object.keys(schema.properties), ...secretsOf(schema).map((name) => name + fileSuffix)];
}

/**
 * Returns the variables of a schema that are set. Those that are empty count as not set. A secret can be in a file, without
 * the line break at its end.
 */
export function givenValues(schema: TObject, environment: Environment): GivenValues {
  const values: Record<string, { text: string; file?: string }> = {};
  for (const name of Object.keys(schema.properties)) {
    const text = environment[name];
    if (text !== undefined && text !== '') values[name] = { text };
  }
  const problems: string[] = [];
  const unreadable: string[] = [];
  for (const name of secretsOf(schema)) {
    const given = givenSecret(name, environment);
    if (given instanceof Error) {
      problems.push(given.message);
      if (!(name in values)) unreadable.push(name);
    } else if (given !== undefined) values[name] = given;
  }
  return { values, problems, unreadable };
}

/**
 * Returns a secret that is set, in its variable or in a file, or an Error with a sentence about how it was given; `undefined`
 * if it is not set. `file` is the path of the file.
 */
export function givenSecret(
  name: string,
  environment: Environment,
): { readonly text: string; readonly file?: string } | Error | undefined {
  const value = environment[name] ?? '';
  const file = environment[name + fileSuffix] ?? '';
  if (file === '') return value === '' ? undefined : { text: value };
  if (value !== '') return new Error(`${name} and ${name}${fileSuffix} are both set: leave one of them out`);
  const text = contentOf(file);
  if (typeof text === 'string') return { text, file };
  return new Error(`${name}${fileSuffix} names a file that ${text.message}`, { cause: text });
}

/** Returns the content of a file, or an Error with the rest of a sentence about the file if it cannot be read or is empty. */
function contentOf(file: string): string | Error {
  try {
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text === '' ? new Error(`is empty: ${file}`) : text;
  } catch (error) {
    return new Error(`cannot be read: ${(error as Error).message}`, { cause: error });
  }
}
