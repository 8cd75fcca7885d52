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
  return Object.entries(schema.properties).flatMap(([name, definition]) =>
    Reflect.get(definition, 'secret') === true ? [name] : [],
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
    const file = environment[name + fileSuffix] ?? '';
    if (file === '') continue;
    if (name in values) {
      problems.push(`${name} and ${name}${fileSuffix} are both set: leave one of them out`);
      continue;
    }
    const text = contentOf(file);
    if (typeof text === 'string') values[name] = { text, file };
    else {
      problems.push(`${name}${fileSuffix} names a file that ${text.message}`);
      unreadable.push(name);
    }
  }
  return { values, problems, unreadable };
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
