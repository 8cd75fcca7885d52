import { brand } from '@longshore/jobs/storage';
import { Ajv } from 'ajv';
import type { Static, TObject } from 'typebox';

/** An invalid configuration. The message names the variables and their problems. */
export class ConfigError extends Error {
  static {
    brand(this, 'ConfigError');
  }

  override readonly name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The values of a schema's environment variables. */
export type Config<Schema extends TObject> = Readonly<Static<Schema>>;

/**
 * Reads the environment variables of a schema, converts them to numbers and booleans, and fills in defaults. An empty
 * variable counts as unset, because Compose and Kubernetes pass unset variables as empty.
 *
 * @throws {ConfigError} with a message that lists every problem, but no values, because they may be secret
 */
export function readConfig<Schema extends TObject>(schema: Schema, environment: Environment): Config<Schema> {
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(schema.properties)) {
    const value = environment[name];
    if (value !== undefined && value !== '') values[name] = value;
  }
  // The validator runs only once, so optimizing its code would cost more time than it saves.
  const validate = new Ajv({
    allErrors: true,
    coerceTypes: true,
    useDefaults: true,
    strict: false,
    code: { optimize: false },
  }).compile(schema);
  if (validate(values)) return Object.freeze(values as Static<Schema>);
  const problems = (validate.errors ?? []).map(({ instancePath, params, message, keyword }) => {
    if (keyword === 'required') return `${String(params['missingProperty'])} is not set`;
    const allowed: unknown = params['allowedValues'];
    const values = Array.isArray(allowed) ? `: ${allowed.join(', ')}` : '';
    return `${instancePath.slice(1)} ${message ?? 'is not valid'}${values}`;
  });
  throw new ConfigError(`The configuration is not valid: ${problems.join('; ')}`);
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
