import { printed } from './storable.js';
import { builtIn, shown } from './shown.js';
import { nearestWord, typosBetween } from '@longshore/edge';

/**
 * Throws a TypeError or a RangeError unless a value is acceptable. The message begins with `what`, and states what was
 * given and what is wanted.
 */
export type Check = (what: string, value: unknown) => void;

/**
 * The options of an interface by name: the check of an option's value, or `true` if it is checked elsewhere. The compiler
 * requires each of them, and no other.
 */
export type OptionNames<Options> = Readonly<Record<keyof Options & string, true | Check>>;

/** What other job systems call an option, in lower case, and what it is called here. */
const otherNames = new Map<string, readonly string[]>(
  Object.entries({
    attempts: ['maxAttempts'],
    retries: ['maxAttempts'],
    maxretries: ['maxAttempts'],
    retrylimit: ['maxAttempts'],
    backoff: ['retryDelay'],
    retrybackoff: ['retryDelay'],
    expireinseconds: ['timeoutMs'],
    ttl: ['timeoutMs'],
    startafter: ['runAt', 'after'],
    scheduledat: ['runAt'],
    runin: ['delayMs'],
    wait: ['delayMs'],
    dependson: ['after', 'parents'],
    singletonkey: ['unique', 'key'],
    jobkey: ['unique', 'key'],
    uniquefor: ['unique', 'periodMs'],
    jobid: ['idempotencyKey'],
    deduplication: ['unique'],
    queuename: ['queue'],
    labels: ['tags'],
    data: ['args'],
    payload: ['args'],
    schema: ['args'],
    input: ['args'],
    output: ['result'],
    handler: ['handlers', 'definition'],
    workers: ['handlers', 'concurrency'],
    job: ['definition', 'jobs'],
    task: ['definition'],
    pattern: ['cron'],
    schedule: ['cron'],
    interval: ['every'],
    tz: ['timeZone'],
    connectionstring: ['url'],
    connection: ['url', 'storage'],
    max: ['poolSize', 'concurrency'],
  }),
);

/**
 * Checks that a value is an object whose members are all options of a public function, and the values of those that have
 * a check. An option that is `undefined` counts as absent.
 *
 * @param where the function and, if needed, the parameter, at the start of the message: `enqueue` or `enqueue: unique`
 * @param names the options that exist
 * @throws {TypeError} if the value is no such object; for an unknown option, the message names the nearest one
 * @throws whatever the check of an option throws
 */
export function checkOptions(
  where: string,
  options: object,
  names: Readonly<Record<string, true | Check>>,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw notOptions(where, options, names);
  let isEmpty = true;
  // A loop over the members, without a list of them, because this runs for every job that is enqueued.
  for (const name in options) {
    isEmpty = false;
    const check = Object.hasOwn(names, name) ? names[name] : undefined;
    if (check === true) continue;
    if (check === undefined) throw noOption(where, name, Object.keys(names));
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) check(`${where}: ${name}`, value);
  }
  if (isEmpty && !isOptions(options)) throw notOptions(where, options, names);
}

function notOptions(where: string, value: unknown, names: object): TypeError {
  const optionNames = Object.keys(names).join(', ');
  return new TypeError(
    `${where} must be given an object with the options ${optionNames}, not ${shown(value)}`,
  );
}

function noOption(where: string, name: string, optionNames: readonly string[]): TypeError {
  const nearest = nearestName(name, optionNames);
  const hint =
    nearest === undefined ? `The options are ${optionNames.join(', ')}` : `Did you mean "${nearest}"?`;
  return new TypeError(`${where} has no option "${name}". ${hint}`);
}

/**
 * Returns whether a value is an object whose members are named, and not one whose content is elsewhere: a `Map`, for
 * example, an `Error`, a boxed number, or a promise that nobody has awaited.
 */
export function isOptions(value: unknown): value is object {
  return typeof value === 'object' && value !== null && builtIn(value) === 'Object';
}

/** Returns the known name that was probably meant; `undefined` if none resembles the given one. */
export function nearestName(input: string, names: readonly string[]): string | undefined {
  const lower = printed(input).toLowerCase();
  const translated = otherNames.get(lower)?.find((name) => names.includes(name));
  if (translated !== undefined) return translated;
  const maxTypos = Math.max(1, Math.floor(lower.length / 3));
  return nearestWord(lower, names, maxTypos, (word, name) => {
    const other = name.toLowerCase();
    // One name is often the start of the other: delay and delayMs.
    const [short, long] = word.length < other.length ? [word, other] : [other, word];
    return short.length >= 3 && long.startsWith(short) ? 0.5 : typosBetween(word, other, maxTypos);
  });
}
