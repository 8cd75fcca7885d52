import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { type Static, type TSchema, Type } from 'typebox';
import { toJsonText } from './arguments.js';
import { bounds, checkInteger } from './bounds.js';
import { checkConcurrency, type Concurrency } from './concurrency.js';
import { type ArgumentProblem, InvalidArgumentsError } from './errors.js';
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
import { checkUniqueness, type Uniqueness, type UniquenessRule } from './uniqueness.js';

export interface JobDefinitionOptions<Schema extends TSchema> extends RetryRules {
  /** Identifies the handler; unique within an application. 1 to 100 letters, digits, `.`, `_`, `-` and `:`. */
  name: string;
  /** The arguments, as a TypeBox schema. Any JSON object by default. */
  args?: Schema;
  /** The queue of its jobs; `default` by default. Same characters as a name. */
  queue?: string;
  /** −100 to 100, lower runs first; 0 by default. */
  priority?: number;
  /** 1 to 1000, 10 by default. With 1, a job is started at most once, even if its server dies. */
  maxAttempts?: number;
  /**
   * Milliseconds before the next attempt, 0 to 315 360 000 000 (ten years): a function, or a list whose last entry
   * repeats. `attempt⁴` seconds ± 10 % by default. A function's result is clamped to these bounds.
   */
  retryDelay?: RetryDelay | readonly number[];
  /** Time limit per attempt, in milliseconds, 1 to 86 400 000; unlimited by default. */
  timeoutMs?: number;
  /**
   * Runs at most `limit` jobs with the same key at once, across all servers. The key is a string of 1 to 200
   * characters, or is computed from the arguments, such as a tenant's id; `null` exempts the job from the limit.
   */
  concurrency?: ConcurrencyRule<Static<Schema>>;
  /**
   * Prevents duplicates: at most one job of this name in the same queue holds a given key at a time. The key is a string
   * or is computed from the arguments; with `true`, or without a key, all arguments form the key.
   */
  unique?: true | UniquenessRule<Static<Schema>>;
}

export interface ConcurrencyRule<Args> {
  readonly key: string | ((args: Args) => string | null);
  /** 1 to 10 000. */
  readonly limit: number;
}

/** A job's name, argument schema and defaults, shared by clients and servers. It contains no handler. */
export interface JobDefinition<Args = unknown> {
  readonly name: string;
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
   * @throws {InvalidArgumentsError} naming the path of every problem
   */
  serialize(args: Args): JsonText;
}

/**
 * Defines a kind of job.
 *
 * @throws {RangeError} if a name, a priority, a number of attempts or a time is out of bounds
 * @throws {TypeError} if `retryOn` or `giveUpOn` contains something other than classes
 */
export function defineJob<Schema extends TSchema = TSchema>(
  options: JobDefinitionOptions<Schema>,
): JobDefinition<Static<Schema>> {
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
  const schema: TSchema = options.args ?? Type.Object({});
  let validate: ValidateFunction | undefined;
  let explain: ValidateFunction | undefined;

  return Object.freeze({
    name,
    schema,
    queue,
    priority,
    maxAttempts,
    retryDelay: toRetryDelay(options.retryDelay ?? defaultRetryDelay),
    retryRules: {
      ...(options.retryOn && { retryOn: options.retryOn }),
      ...(options.giveUpOn && { giveUpOn: options.giveUpOn }),
    },
    timeoutMs: options.timeoutMs ?? null,
    concurrencyOf(args: Static<Schema>): Concurrency | null {
      if (options.concurrency === undefined) return null;
      const { key, limit } = options.concurrency;
      const own = typeof key === 'string' ? key : key(args);
      return own === null ? null : checkConcurrency({ key: own, limit });
    },
    uniquenessOf(args: Static<Schema>): Uniqueness | null {
      if (unique === undefined) return null;
      const { key, ...rule } = unique;
      if (typeof key === 'string') return { key, ...rule };
      const own = key === undefined ? fingerprintOf(toJsonText(args, 'args')) : key(args);
      return own === null ? null : { key: own, ...rule };
    },
    serialize(args: Static<Schema>): JsonText {
      const text = toJsonText(args, 'args');
      validate ??= firstProblem.compile(schema);
      if (validate(args)) return text;
      if (text.length > maxThoroughLength)
        throw new InvalidArgumentsError((validate.errors ?? []).map(toProblem));
      explain ??= everyProblem.compile(schema);
      explain(args);
      throw new InvalidArgumentsError((explain.errors ?? []).map(toProblem));
    },
  });
}

/** @throws {RangeError} if the string is not a valid name for a job, queue or recurring job */
export function checkName(kind: 'job' | 'queue' | 'recurring job', name: string): void {
  if (!/^[A-Za-z0-9][\w.:-]{0,99}$/.test(name)) {
    throw new RangeError(
      `"${name}" is not a valid name for a ${kind}: use 1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit`,
    );
  }
}

/** @throws {RangeError} unless it is an integer from −100 to 100 */
export function checkPriority(priority: number): void {
  checkInteger('A priority', priority, bounds.priority);
}

/** @throws {RangeError} unless it is an integer from 1 to 1000 */
export function checkMaxAttempts(maxAttempts: number): void {
  checkInteger('maxAttempts', maxAttempts, bounds.maxAttempts);
}

/** @throws {RangeError} unless it is an integer from 1 to 86 400 000 (a day) */
export function checkTimeout(timeoutMs: number): void {
  checkInteger('timeoutMs', timeoutMs, bounds.timeoutMs);
}

const firstProblem = new Ajv({ strict: false });
const everyProblem = new Ajv({ strict: false, allErrors: true });

/**
 * For arguments longer than this, in characters of JSON, only the first problem is reported, because every single
 * value could be a problem.
 */
const maxThoroughLength = 20_000;

function toProblem({ instancePath, message, keyword, params }: ErrorObject): ArgumentProblem {
  const path = `args${instancePath.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.')}`;
  if (keyword === 'additionalProperties') {
    return {
      path: `${path}.${String(params['additionalProperty'])}`,
      message: 'is not an argument of this job',
      kind: 'unknown',
    };
  }
  if (keyword === 'required') {
    return { path: `${path}.${String(params['missingProperty'])}`, message: 'is missing', kind: 'missing' };
  }
  return { path, message: message ?? 'is not valid' };
}
