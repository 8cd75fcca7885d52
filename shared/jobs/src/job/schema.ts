import type { StandardSchemaV1 } from '@standard-schema/spec';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Static, TSchema } from 'typebox';
import { type ArgumentProblem, InvalidArgumentsError } from './errors.js';
import type { JsonText } from './job.js';
import { isOptions } from './options.js';

/** What checking a value returned. */
export interface Checked<Value> {
  /** The output of the schema, with its defaults and transforms applied. */
  readonly value: Value;
  /** The value as it was given, as JSON. */
  readonly text: JsonText;
}

export type InputOf<Schema> =
  Schema extends StandardSchemaV1<infer Input, unknown>
    ? Input
    : Schema extends TSchema
      ? Static<Schema>
      : never;

/** The output type of a schema. Differs from the input type if the schema transforms its input. */
export type OutputOf<Schema> =
  Schema extends StandardSchemaV1<unknown, infer Output>
    ? Output
    : Schema extends TSchema
      ? Static<Schema>
      : never;

/** Checks values against a schema of any supported kind. */
export interface ValueSchema {
  /** A JSON Schema for documentation; `{}` if the schema's library cannot convert the schema to one. */
  readonly json: TSchema;
  /**
   * Validates a value. Returns the output of the schema, and leaves the value itself as it is.
   *
   * @throws {InvalidArgumentsError} if the value is invalid; lists problems with their paths
   * @throws {TypeError} if the schema validates asynchronously
   */
  read(value: unknown): unknown;
}

/**
 * Compiles a TypeBox schema, a JSON Schema, or a schema of a library that implements Standard Schema.
 *
 * @param root the name of the value in messages: `args` or `result`
 * @param job the job's name, for messages
 * @throws {TypeError} if `schema` is of another kind or an invalid JSON Schema
 */
export function compileSchema(schema: object, root: 'args' | 'result', job: string): ValueSchema {
  if (isStandard(schema)) return standardSchema(schema, root, job);
  if (!isOptions(schema) || !hasKeyword(schema))
    throw new TypeError(
      `${root} of the job "${job}" is not a schema: give a TypeBox schema, a JSON Schema, or a schema of a library that implements Standard Schema, such as zod, valibot or arktype`,
    );
  try {
    return jsonSchema(schema, root);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TypeError(`${root} of the job "${job}" is not a valid JSON Schema: ${reason}`, {
      cause: error,
    });
  }
}

/** A schema that accepts every value. */
export const anyValue: ValueSchema = { json: {}, read: (value) => value };

const compilers = new Map<string, Ajv>();

/**
 * Returns what compiles JSON Schemas. Created on demand, because that takes longer than most of the rest of an import.
 *
 * @param isNew whether for drafts from 2019-09 on
 * @param allErrors whether to report every problem instead of the first
 */
function compilerOf(isNew: boolean, allErrors: boolean): Ajv {
  const key = `${isNew} ${allErrors}`;
  let compiler = compilers.get(key);
  if (compiler === undefined) {
    const options = { strict: false, useDefaults: true, allErrors };
    // `formats.default` is the plugin function, because ajv-formats is a CommonJS module.
    compiler = formats.default(isNew ? new Ajv2020(options) : new Ajv(options));
    compilers.set(key, compiler);
  }
  return compiler;
}

/**
 * If a value has more than this many characters of JSON, only its first problem is reported, because a long value can
 * have thousands of problems.
 */
const maxThoroughLength = 20_000;

const annotations = new Set(['$schema', '$id', '$ref', '$defs', 'title', 'description', 'type']);

/**
 * Returns whether an object looks like a JSON Schema: it has a known keyword or is empty. An empty schema allows any
 * value.
 */
function hasKeyword(schema: object): boolean {
  const keys = Object.keys(schema);
  return (
    keys.length === 0 ||
    keys.some((key) => annotations.has(key) || compilerOf(false, false).getKeyword(key) !== false)
  );
}

function jsonSchema(json: TSchema, root: string): ValueSchema {
  const isNew = '$schema' in json && /20(19-09|20-12)/.test(String(json.$schema));
  // Ajv2020 rejects other drafts in `$schema`, such as 2019-09, so `$schema` is left out.
  const { $schema: _, ...schema } = json as { $schema?: string };
  const validate = compilerOf(isNew, false).compile(isNew ? schema : json);
  // Filling in defaults changes the value, so it needs a copy.
  const hasDefaults = JSON.stringify(json).includes('"default":');
  let explain: ValidateFunction | undefined;
  return {
    json,
    read: (given) => {
      const value: unknown = hasDefaults ? copyOf(given) : given;
      if (validate(value)) return value;
      const problems = (errors: ErrorObject[] | null | undefined): ArgumentProblem[] =>
        (errors ?? []).map((error) => toProblem(error, root));
      if (JSON.stringify(given).length > maxThoroughLength)
        throw new InvalidArgumentsError(problems(validate.errors));
      explain ??= compilerOf(isNew, true).compile(isNew ? schema : json);
      explain(value);
      throw new InvalidArgumentsError(problems(explain.errors));
    },
  };
}

/** Copies JSON data. Takes a tenth of the time of `structuredClone`. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const members = value as Readonly<Record<string, unknown>>;
  // Assigning to this name would set the prototype.
  if (Object.hasOwn(members, '__proto__')) return structuredClone(members);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(members)) copy[name] = copyOf(members[name]);
  return copy;
}

function toProblem({ instancePath, message, keyword, params }: ErrorObject, root: string): ArgumentProblem {
  const path = `${root}${instancePath.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')}`;
  if (keyword === 'additionalProperties') {
    return {
      path: `${path}.${String(params['additionalProperty'])}`,
      message: root === 'args' ? 'is not an argument of this job' : 'is not a member of the result',
      kind: 'unknown',
    };
  }
  if (keyword === 'required') {
    return { path: `${path}.${String(params['missingProperty'])}`, message: 'is missing', kind: 'missing' };
  }
  return { path, message: message ?? 'is not valid' };
}

function isStandard(schema: object): schema is StandardSchemaV1 {
  const standard: unknown = (schema as { '~standard'?: unknown } | null)?.['~standard'];
  return typeof standard === 'object' && standard !== null && 'validate' in standard;
}

/** Wraps a schema that implements Standard Schema (https://standardschema.dev). */
function standardSchema(schema: StandardSchemaV1, root: string, job: string): ValueSchema {
  return {
    json: describedBy(schema),
    read: (input) => {
      const result = schema['~standard'].validate(input);
      if (result instanceof Promise)
        throw new TypeError(
          `${root} of the job "${job}" are validated asynchronously, which is not supported: move checks that need a lookup to the handler`,
        );
      if (result.issues !== undefined)
        throw new InvalidArgumentsError(
          result.issues.map(({ path = [], message }) => ({
            path: pathOf(path, root),
            message: `is not valid: ${message}`,
          })),
        );
      return result.value;
    },
  };
}

function pathOf(path: NonNullable<StandardSchemaV1.Issue['path']>, root: string): string {
  const keys = path.map((part) => (typeof part === 'object' ? part.key : part));
  return root + keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
}

/**
 * Converts the schema to JSON Schema. Returns `{}` if the library cannot convert it or does not implement Standard JSON
 * Schema.
 */
function describedBy(schema: StandardSchemaV1): TSchema {
  const { jsonSchema: converter } = schema['~standard'] as {
    jsonSchema?: { input(options: { target: string }): Record<string, unknown> };
  };
  try {
    return converter?.input({ target: 'draft-07' }) ?? {};
  } catch {
    return {}; // The schema has parts that JSON Schema cannot express.
  }
}
