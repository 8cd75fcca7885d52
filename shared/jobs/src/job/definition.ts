import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { TSchema, TUnsafe } from 'typebox';
import { toJsonText } from './arguments.js';
import { bounds, checkInteger, isName } from './bounds.js';
import { checkConcurrency, type CheckedConcurrency, type Concurrency } from './concurrency.js';
import { fingerprintOf } from './fingerprint.js';
import { checkOptions, type OptionNames } from './options.js';
import { shown } from './shown.js';
import type { JsonText, JsonValue } from './job.js';
import {
  checkRetryRules,
  defaultMaxAttempts,
  defaultRetryDelay,
  type RetryDelay,
  type RetryRules,
  toRetryDelay,
} from './retry.js';
import { anyValue, type Checked, compileSchema, type InputOf, type OutputOf } from './schema.js';
import {
  checkKey,
  checkUniqueness,
  type Uniqueness,
  type UniquenessRule,
  uniquenessOptions,
} from './uniqueness.js';

/** The type of the schema that applies if a definition sets no `args`: it accepts any JSON object. */
export type AnyObject = StandardSchemaV1<object, Readonly<Record<string, unknown>>>;

/** The type of the schema that applies if a definition sets no `result`: it accepts any JSON value. */
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
   * Schema, such as zod, valibot or arktype. By default, any JSON object is valid. The arguments are stored as they are
   * given, and must be JSON. They are checked when the job is enqueued and again when an attempt starts, and the handler
   * receives the output of the schema, with its defaults and transforms applied.
   */
  args?: Schema;
  /**
   * The version of the arguments, 1 to 1,000,000; 1 by default. Raise it together with `upgrade` when arguments that are
   * already stored would no longer match the schema. Each job records the version with which it was enqueued. A server
   * does not run jobs of a newer version than its own definition has, but leaves them to servers with the newer one.
   */
  version?: number;
  /**
   * Converts the arguments of a job that was enqueued with an earlier version to arguments of this one, each time an
   * attempt starts. The result is checked against the schema; the stored arguments stay as they are. By default, and for
   * jobs of this version, they are only checked. Must not be asynchronous.
   *
   * @param args the arguments as they were stored, of any of the earlier versions; annotate the parameter with their type
   * @param fromVersion the version with which the job was enqueued
   */
  upgrade?(args: object, fromVersion: number): NoInfer<InputOf<Schema>>;
  /**
   * Earlier names of the job. Servers run the jobs that were enqueued under these names, too. The jobs keep their names:
   * in lists, statistics and unique keys, and when a job type is paused. None by default.
   */
  aliases?: readonly string[];
  /**
   * The schema of the handler's return value, of any kind that `args` accepts. If the return value does not match, the
   * attempt fails. By default, any JSON value is valid.
   */
  result?: Result;
  /** The queue of the jobs; `default` by default. The naming rules of `name` apply. */
  queue?: string;
  /** −100 to 100; jobs with lower values run first. 0 by default. */
  priority?: number;
  /** 1 to 1000, 10 by default. With 1, a job is not retried after a failure or after its server dies. */
  maxAttempts?: number;
  /**
   * Delay before the next attempt, in milliseconds: 0 to 315,360,000,000 (ten years). The last entry of a list repeats.
   * The result of a function is clamped. By default, `attempt⁴` seconds ± 10 %.
   */
  retryDelay?: RetryDelay | readonly number[];
  /** Time limit per attempt, in milliseconds, 1 to 86,400,000; unlimited by default. */
  timeoutMs?: number;
  /**
   * Limits the jobs with the same key in a queue, across all servers: at most `limit` run at once, and no more start than
   * `rate` allows. The key is a string of 1 to 200 characters, or a function that computes the string from the arguments.
   * If the function returns `null`, the job is not limited.
   */
  concurrency?: ConcurrencyRule<NoInfer<OutputOf<Schema>>>;
  /**
   * Prevents duplicates: within a queue, at most one job of this name holds a given key at a time. With `true`, the key
   * is derived from all arguments.
   */
  unique?: true | UniquenessRule<NoInfer<OutputOf<Schema>>>;
}

export interface ConcurrencyRule<Args> extends Omit<Concurrency, 'key'> {
  readonly key: string | ((args: Args) => string | null);
}

/**
 * A job's name, schemas and defaults, shared by clients and servers. The handler is not part of the definition.
 *
 * @typeParam Args the arguments that handlers receive
 * @typeParam Result the value that handlers return
 * @typeParam Input the arguments that enqueuers pass, and that are stored; different from `Args` if the schema
 *   transforms them
 */
export interface JobDefinition<Args = unknown, Result = unknown, Input = Args> {
  readonly name: string;
  /** Earlier names, under which jobs may still be waiting. */
  readonly aliases: readonly string[];
  /** The version of the arguments; 1 unless the definition sets another. */
  readonly version: number;
  /** The JSON Schema of the arguments, for documentation; `{}` if the schema cannot be converted to JSON Schema. */
  readonly schema: TSchema;
  readonly queue: string;
  readonly priority: number;
  readonly maxAttempts: number;
  readonly retryDelay: RetryDelay;
  readonly retryRules: RetryRules;
  /** `null` if attempts have no time limit. */
  readonly timeoutMs: number | null;
  /** Returns the concurrency key and its limits for these arguments; `null` if the job has no key. */
  concurrencyOf(args: Args): CheckedConcurrency | null;
  /** Returns the unique key and its options for these arguments; `null` if duplicates are allowed. */
  uniquenessOf(args: Args): Uniqueness | null;
  /**
   * Validates arguments and serializes them for storage.
   *
   * @param version the version for which they were written; by default, that of the definition
   * @throws {InvalidArgumentsError} if the arguments are invalid; lists problems with their paths
   * @throws {RangeError} if the definition has an earlier version
   */
  check(args: Input, version?: number): Checked<Args>;
  /**
   * Returns stored arguments as the handler receives them: upgraded from the version with which they were enqueued, and
   * validated. Throws as {@link check} does, and whatever `upgrade` throws.
   */
  read(args: JsonValue, version: number): Args;
  /** Validates a result and serializes it for storage. Throws as {@link check} does. */
  checkResult(result: Result): JsonText;
  /** Never set; exists only to carry the type parameters. */
  readonly types?: { readonly args: Args; readonly result: Result; readonly input: Input };
}

const definitionOptions: OptionNames<JobDefinitionOptions<TSchema>> = {
  name: true,
  args: true,
  version: true,
  upgrade: true,
  aliases: true,
  result: true,
  queue: true,
  priority: true,
  maxAttempts: true,
  retryDelay: true,
  retryOn: true,
  giveUpOn: true,
  timeoutMs: true,
  concurrency: true,
  unique: true,
};

const concurrencyOptions: OptionNames<ConcurrencyRule<unknown>> = { key: true, limit: true, rate: true };

/**
 * Validates the options of a job definition, fills in defaults and returns the frozen definition.
 *
 * @throws {RangeError} if a name is invalid or another option is out of bounds
 * @throws {TypeError} if an option is unknown, `args` or `result` is not a valid schema, or `retryOn` or `giveUpOn`
 *   contains something other than classes
 */
export function defineJob<const Schema extends TSchema = AnyObject, const Result extends TSchema = AnyResult>(
  options: JobDefinitionOptions<Schema, Result>,
): JobDefinition<OutputOf<Schema>, OutputOf<Result>, InputOf<Schema>> {
  type Args = OutputOf<Schema>;
  checkOptions('defineJob', options, definitionOptions);
  const { name, queue = 'default', priority = 0, maxAttempts = defaultMaxAttempts } = options;
  const { version = 1, aliases = [] } = options;
  checkName('job', name);
  checkInteger(`defineJob: version of the job "${name}"`, version, bounds.version);
  checkAliases(name, aliases);
  checkUpgrade(options);
  checkName('queue', queue);
  checkPriority(priority);
  checkMaxAttempts(maxAttempts);
  if (options.timeoutMs !== undefined) checkTimeout(options.timeoutMs);
  checkRetryRules(options);
  const unique = options.unique === true ? {} : options.unique;
  if (unique !== undefined) {
    checkOptions(`defineJob: unique of the job "${name}" can be true, or it`, unique, uniquenessOptions);
    if (typeof unique.key !== 'function' && unique.key !== undefined) checkKey('unique', unique.key);
    checkUniqueness(unique);
  }
  if (options.concurrency !== undefined) {
    checkOptions(`defineJob: concurrency of the job "${name}"`, options.concurrency, concurrencyOptions);
    const { key, ...limits } = options.concurrency;
    checkConcurrency({ key: typeof key === 'function' ? 'any' : key, ...limits });
  }
  const schema = compileSchema(options.args ?? { type: 'object', properties: {} }, 'args', name);
  const result = options.result === undefined ? anyValue : compileSchema(options.result, 'result', name);

  const read = (args: unknown, from: number): Args => {
    if (from > version)
      throw new RangeError(
        `The arguments are of version ${from} of the job "${name}", but this process only has version ${version}: deploy the newer definition to it`,
      );
    return schema.read(from < version ? upgraded(options, args, from) : args) as Args;
  };

  return Object.freeze({
    name,
    aliases: [...aliases],
    version,
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
    concurrencyOf(args: Args): CheckedConcurrency | null {
      if (options.concurrency === undefined) return null;
      const { key, ...limits } = options.concurrency;
      const keyOfArgs = typeof key === 'string' ? key : key(args);
      return keyOfArgs === null ? null : checkConcurrency({ key: keyOfArgs, ...limits });
    },
    uniquenessOf(args: Args): Uniqueness | null {
      if (unique === undefined) return null;
      const { key, ...rule } = unique;
      if (typeof key === 'string') return { key, ...rule };
      const keyOfArgs = key === undefined ? fingerprintOf(toJsonText(args, 'args')) : key(args);
      return keyOfArgs === null ? null : { key: keyOfArgs, ...rule };
    },
    check(args: InputOf<Schema>, from = version): Checked<Args> {
      const text = toJsonText(args, 'args');
      return { value: read(args, from), text };
    },
    read,
    checkResult: (value: OutputOf<Result>) => toJsonText(result.read(value), 'result'),
  });
}

function checkAliases(name: string, aliases: readonly string[]): void {
  const what = `defineJob: aliases of the job "${name}"`;
  const isList: boolean = Array.isArray(aliases); // a type guard would lose the type of the elements
  if (!isList) throw new TypeError(`${what} must be a list of names, not ${shown(aliases)}`);
  for (const alias of aliases) checkName('job', alias);
  const names = [name, ...aliases];
  const twice = names.find((one, index) => names.indexOf(one) !== index);
  if (twice !== undefined)
    throw new RangeError(`${what} contain "${twice}", which is already a name of the job`);
}

function checkUpgrade({ name, upgrade }: { readonly name: string; readonly upgrade?: unknown }): void {
  if (upgrade !== undefined && typeof upgrade !== 'function')
    throw new TypeError(`defineJob: upgrade of the job "${name}" must be a function, not ${shown(upgrade)}`);
}

/** Returns the result of a definition's `upgrade`; the arguments as they are if it has none. */
function upgraded(
  options: { upgrade?(args: object, fromVersion: number): unknown },
  args: unknown,
  from: number,
): unknown {
  if (options.upgrade === undefined) return args;
  const result = options.upgrade(args as object, from);
  if (result === undefined) throw new TypeError('upgrade returned nothing: it must return the arguments');
  if (isPromiseLike(result)) {
    Promise.resolve(result).catch(() => undefined); // a rejection that nobody handles would end the process
    throw new TypeError(
      'upgrade must return the arguments, not a promise: move what needs a lookup to the handler',
    );
  }
  return result;
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

/** Returns the names of the jobs that a definition describes: its name and its aliases. */
export function namesOf({ name, aliases }: Pick<JobDefinition, 'name' | 'aliases'>): readonly string[] {
  return [name, ...aliases];
}

/** Returns definitions by the names of their jobs, aliases included. */
export function byJobName(definitions: readonly JobDefinition[]): ReadonlyMap<string, JobDefinition> {
  return new Map(
    definitions.flatMap((definition) => namesOf(definition).map((name) => [name, definition] as const)),
  );
}

/**
 * Checks that a value is a job definition.
 *
 * @param where the function that was given the value, at the start of the message
 * @throws {TypeError} if the value is something else; the message states what
 */
export function checkDefinition(where: string, value: object): void {
  if (typeof value === 'object' && value !== null && 'check' in value && typeof value.check === 'function')
    return;
  const isHandler = typeof value === 'object' && value !== null && 'definition' in value;
  const got = isHandler ? 'a handler: pass its definition' : shown(value);
  throw new TypeError(`${where} needs a job definition, the result of defineJob({ name: … }), not ${got}`);
}

/**
 * @param kind the kind of name, shown in the error message
 * @throws {RangeError} unless `name` consists of 1 to 100 letters, digits, `.`, `_`, `-` and `:`, and begins with a
 *   letter or digit
 */
export function checkName(kind: 'job' | 'queue' | 'recurring job', name: string): void {
  if (!isName(name)) {
    throw new RangeError(
      `${shown(name)} is not a valid name for a ${kind}: use 1 to 100 letters, digits, ".", "_", "-" and ":", beginning with a letter or digit`,
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

/** @throws {RangeError} unless `timeoutMs` is an integer from 1 to 86,400,000 (a day) */
export function checkTimeout(timeoutMs: number): void {
  checkInteger('timeoutMs', timeoutMs, bounds.timeoutMs);
}

/** The type of the arguments that enqueuers pass for a job of this definition. */
export type InputOfJob<Definition extends JobDefinition> = NonNullable<Definition['types']>['input'];

/** The `args` member of a request; optional if the job has no required arguments. */
export type ArgsMember<Input> = {} extends Input
  ? { readonly args?: NoInfer<Input> }
  : { readonly args: NoInfer<Input> };
