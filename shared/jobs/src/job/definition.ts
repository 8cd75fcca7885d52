import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type TSchema, type TUnsafe, Type } from 'typebox';
import { toJsonText } from './arguments.js';
import { bounds, checkInteger } from './bounds.js';
import { checkConcurrency, type Concurrency } from './concurrency.js';
import { fingerprintOf } from './fingerprint.js';
import type { JsonText } from './job.js';
import {
  checkRetryRules,
  defaultMaxAttempts,
  defaultRetryDelay,
  type RetryDelay,
  type RetryRules,
  toRetryDelay,
} from './retry.js';
import { anyValue, type Checked, compileSchema, type InputOf, type OutputOf } from './schema.js';
import { checkUniqueness, type Uniqueness, type UniquenessRule } from './uniqueness.js';

/** The argument schema of a definition that does not specify one. Accepts any JSON object. */
export type AnyObject = StandardSchemaV1<object, Readonly<Record<string, unknown>>>;

/** The result schema of a definition that does not specify one. Accepts any JSON value. */
export type AnyResult = TUnsafe;

export interface JobDefinitionOptions<
  Schema extends TSchema,
  Result extends TSchema = AnyResult,
> extends RetryRules {
  /**
   * Identifies the handler; unique within an application. 1 to 100 letters, digits, `.`, `_`, `-` and `:`, beginning
   * with a letter or digit.
   */
  name: string;
  /**
   * The schema of the arguments: a TypeBox schema, a JSON Schema, or a schema of a library that implements Standard
   * Schema, such as zod, valibot or arktype. Any JSON object by default. If the schema transforms its input, its output
   * is stored and passed to the handler, so the output must be JSON.
   */
  args?: Schema;
  /**
   * The schema of the handler's return value, of any kind that `args` accepts. If a result does not match, the attempt
   * fails. Any JSON value by default.
   */
  result?: Result;
  /** The name of the queue for the jobs; `default` by default. Must follow the same rules as `name`. */
  queue?: string;
  /** −100 to 100; jobs with lower values run first. 0 by default. */
  priority?: number;
  /** 1 to 1000, 10 by default. With 1, a job is started at most once, even if its server dies while running it. */
  maxAttempts?: number;
  /**
   * Delay before the next attempt in milliseconds, 0 to 315 360 000 000 (ten years). Either a function or a list; the
   * last entry of a list repeats, and the result of a function is clamped. `attempt⁴` seconds ± 10 % by default.
   */
  retryDelay?: RetryDelay | readonly number[];
  /** Time limit per attempt, in milliseconds, 1 to 86 400 000; unlimited by default. */
  timeoutMs?: number;
  /**
   * Runs at most `limit` jobs of the same queue with the same key at once, across all servers. The key is a string of 1
   * to 200 characters, or a function that computes it from the arguments, such as a tenant's id. If the function
   * returns `null`, the job is not limited.
   */
  concurrency?: ConcurrencyRule<NoInfer<OutputOf<Schema>>>;
  /**
   * Prevents duplicates: at most one job of this name in the same queue holds a given key at a time. The key is a
   * string or is computed from the arguments; with `true`, or without a key, it is derived from all arguments.
   */
  unique?: true | UniquenessRule<NoInfer<OutputOf<Schema>>>;
}

export interface ConcurrencyRule<Args> {
  readonly key: string | ((args: Args) => string | null);
  /** 1 to 10 000. */
  readonly limit: number;
}

/**
 * A job's name, argument schema and defaults, shared by clients and servers. It contains no handler.
 *
 * @typeParam Args the arguments that handlers receive
 * @typeParam Result the value that handlers return
 * @typeParam Input the arguments that enqueuers pass; they differ from `Args` if the schema transforms them
 */
export interface JobDefinition<Args = unknown, Result = unknown, Input = Args> {
  readonly name: string;
  /** The JSON Schema of the arguments, for documentation; `{}` if the schema cannot be converted to one. */
  readonly schema: TSchema;
  readonly queue: string;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly retryDelay: RetryDelay;
  readonly retryRules: RetryRules;
  /** `null` if attempts have no time limit. */
  readonly timeoutMs: number | null;
  /** Returns the concurrency key and limit of a job with these arguments; `null` if it has none. */
  concurrencyOf(args: Args): Concurrency | null;
  /** Returns the unique key of a job with these arguments; `null` if duplicates are allowed. */
  uniquenessOf(args: Args): Uniqueness | null;
  /**
   * Validates arguments and serializes them for storage.
   *
   * @throws {InvalidArgumentsError} listing the problems found, each with its path
   */
  check(args: Input): Checked<Args>;
  /** Validates and serializes a result. Throws as {@link check} does. */
  checkResult(result: Result): JsonText;
  /** Never set; exists only to carry the type parameters. */
  readonly types?: { readonly args: Args; readonly result: Result; readonly input: Input };
}

/**
 * Validates the options of a job definition, fills in defaults and returns the frozen definition.
 *
 * @throws {RangeError} if a name is invalid or another option is out of bounds
 * @throws {TypeError} if `args` or `result` is not a valid schema, or `retryOn` or `giveUpOn` contains something other
 *   than classes
 */
export function defineJob<const Schema extends TSchema = AnyObject, const Result extends TSchema = AnyResult>(
  options: JobDefinitionOptions<Schema, Result>,
): JobDefinition<OutputOf<Schema>, OutputOf<Result>, InputOf<Schema>> {
  type Args = OutputOf<Schema>;
  const { name, queue = 'default', priority = 0, maxAttempts = defaultMaxAttempts } = options;
  checkName('job', name);
  checkName('queue', queue);
  checkPriority(priority);
  checkMaxAttempts(maxAttempts);
  if (options.timeoutMs !== undefined) checkTimeout(options.timeoutMs);
  checkRetryRules(options);
  const unique = options.unique === true ? {} : options.unique;
  if (unique !== undefined) checkUniqueness(unique);
  if (options.concurrency !== undefined) checkConcurrency({ key: 'any', limit: options.concurrency.limit });
  const schema = compileSchema(options.args ?? Type.Object({}), 'args', name);
  const result =
    options.result === undefined ? anyValue('result', {}) : compileSchema(options.result, 'result', name);

  return Object.freeze({
    name,
    schema: schema.json,
    queue,
    priority,
    maxAttempts,
    retryDelay: toRetryDelay(options.retryDelay ?? defaultRetryDelay),
    retryRules: {
      ...(options.retryOn && { retryOn: options.retryOn }),
      ...(options.giveUpOn && { giveUpOn: options.giveUpOn }),
    },
    timeoutMs: options.timeoutMs ?? null,
    concurrencyOf(args: Args): Concurrency | null {
      if (options.concurrency === undefined) return null;
      const { key, limit } = options.concurrency;
      const own = typeof key === 'string' ? key : key(args);
      return own === null ? null : checkConcurrency({ key: own, limit });
    },
    uniquenessOf(args: Args): Uniqueness | null {
      if (unique === undefined) return null;
      const { key, ...rule } = unique;
      if (typeof key === 'string') return { key, ...rule };
      const own = key === undefined ? fingerprintOf(toJsonText(args, 'args')) : key(args);
      return own === null ? null : { key: own, ...rule };
    },
    check: (args: InputOf<Schema>) => schema.check(args) as Checked<Args>,
    checkResult: (value: OutputOf<Result>) => result.check(value).text,
  });
}

/**
 * @param kind what the name is for, for the error message
 * @throws {RangeError} unless `name` consists of 1 to 100 letters, digits, `.`, `_`, `-` and `:`, and begins with a
 *   letter or digit
 */
export function checkName(kind: 'job' | 'queue' | 'recurring job', name: string): void {
  if (!/^[A-Za-z0-9][\w.:-]{0,99}$/.test(name)) {
    throw new RangeError(
      `"${name}" is not a valid name for a ${kind}: use 1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit`,
    );
  }
}

/** @throws {RangeError} unless `priority` is an integer from −100 to 100 */
export function checkPriority(priority: number): void {
  checkInteger('A priority', priority, bounds.priority);
}

/** @throws {RangeError} unless `maxAttempts` is an integer from 1 to 1000 */
export function checkMaxAttempts(maxAttempts: number): void {
  checkInteger('maxAttempts', maxAttempts, bounds.maxAttempts);
}

/** @throws {RangeError} unless `timeoutMs` is an integer from 1 to 86 400 000 (a day) */
export function checkTimeout(timeoutMs: number): void {
  checkInteger('timeoutMs', timeoutMs, bounds.timeoutMs);
}
