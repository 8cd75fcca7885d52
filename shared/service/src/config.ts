import { pathToFileURL } from 'node:url';
import { brand } from '@longshore/jobs/storage';
import { Ajv, type ErrorObject } from 'ajv';
import type { Static, TObject } from 'typebox';
import { type Environment, givenValues, rereadOf } from './given-values.js';

/** An invalid configuration. The message names the variables and their problems. */
export class ConfigError extends Error {
  static {
    brand(this, 'ConfigError');
  }

  override readonly name = 'ConfigError';
  /** Each problem, as a sentence without a full stop. */
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const list = typeof problems === 'string' ? [problems] : problems;
    super(
      list.length === 1 ? list[0] : `The configuration has ${list.length} problems: ${list.join('; ')}`,
      options,
    );
    this.problems = list;
  }
}

/** The values of a schema's environment variables. */
export type Config<Schema extends TObject> = Readonly<Static<Schema>>;

/** Returns what is wrong with several values together. */
type Check<Values> = (config: Values) => readonly string[];

/**
 * Reads the environment variables of a schema, converts them to numbers and booleans, and fills in defaults. An empty
 * variable counts as unset, because Compose and Kubernetes pass unset variables as empty. Reads the files of secrets. The
 * value of a secret whose file will be read again is the `file:` URL of the file.
 *
 * @param checks run even if single values are invalid, which they see as unset
 * @throws {ConfigError} with a message that lists every problem, but no values, because they may be secret
 */
export function readConfig<Schema extends TObject>(
  schema: Schema,
  environment: Environment,
  checks: readonly Check<Config<Schema>>[] = [],
): Config<Schema> {
  const { config, problems, unusable } = valuesOf(schema, environment);
  const further = checks
    .flatMap((check) => check(config))
    .filter((problem) => ![...unusable].some((name) => problem.includes(name)));
  const all = new Set([...problems, ...further]);
  if (all.size > 0) throw new ConfigError([...all]);
  return config;
}

/** Returns the configuration of {@link readConfig} as checks see it: what is required may be missing, because it is invalid. */
export function validValues<Schema extends TObject>(
  schema: Schema,
  environment: Environment,
): Config<Schema> {
  return valuesOf(schema, environment).config;
}

function valuesOf<Schema extends TObject>(
  schema: Schema,
  environment: Environment,
): {
  /** Lacks what is required and invalid. */
  readonly config: Config<Schema>;
  readonly problems: readonly string[];
  /** The variables with a problem. */
  readonly unusable: ReadonlySet<string>;
} {
  const given = givenValues(schema, environment);
  const values: Record<string, unknown> = Object.fromEntries(
    Object.entries(given.values).map(([name, { text }]) => [name, text]),
  );
  const validate = new Ajv({
    allErrors: true,
    coerceTypes: true,
    useDefaults: true,
    strict: false,
    verbose: true,
    code: { optimize: false }, // the validator runs only once, so optimizing its code would cost more than it saves
  }).compile(schema);
  const problems = [...given.problems];
  const unusable = new Set(given.unreadable);
  if (!validate(values)) {
    for (const error of validate.errors ?? []) {
      const name =
        error.keyword === 'required' ? String(error.params['missingProperty']) : error.instancePath.slice(1);
      if (unusable.has(name) && error.keyword === 'required') continue; // its file cannot be read
      unusable.add(name);
      problems.push(sentenceOf(name, error));
      Reflect.deleteProperty(values, name);
    }
    validate(values); // fills in the defaults of what was invalid
  }
  for (const name of rereadOf(schema)) {
    const file = given.values[name]?.file;
    if (file !== undefined && name in values) values[name] = pathToFileURL(file).href;
  }
  return { config: Object.freeze(values as Static<Schema>), problems, unusable };
}

/** Returns the problems of the {@link ConfigError} that `read` throws; none if it does not throw. */
export function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

interface Definition {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly expected?: string;
}

/** Returns a sentence about an invalid value, without the value. */
function sentenceOf(name: string, { keyword, params, parentSchema, message }: ErrorObject): string {
  const { type, minimum, maximum, expected } = (parentSchema ?? {}) as Definition;
  const allowed: unknown = params['allowedValues'];
  if (keyword === 'required') return `${name} is not set`;
  if (Array.isArray(allowed)) return `${name} must be one of ${allowed.join(', ')}`;
  if (type === 'integer') return `${name} must be a whole number${rangeOf(minimum, maximum)}`;
  if (type === 'boolean') return `${name} must be true or false`;
  if (keyword === 'pattern' && expected !== undefined) return `${name} must be ${expected}`;
  if (keyword === 'minLength') return `${name} must have at least ${String(params['limit'])} characters`;
  if (keyword === 'maxLength') return `${name} must have at most ${String(params['limit'])} characters`;
  return `${name} ${message ?? 'is not valid'}`;
}

/** Returns ` from 1 to 10`, or less if there is no limit. */
export function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return '';
  return maximum === undefined ? `, at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/**
 * Splits a comma-separated list: `a, b,c` → `['a', 'b', 'c']`. Ignores empty entries.
 *
 * @param name the variable or option, for the message
 * @throws {ConfigError} if the text is not empty but has no entry: ` , ` must not mean "no restriction"
 */
export function listOf(text: string, name: string): string[] {
  const entries = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (entries.length === 0 && text !== '')
    throw new ConfigError(`${name} has no entry: give values separated by commas, or leave it out`);
  return entries;
}
