import { isDeepStrictEqual } from 'node:util';
import { isInteger, isListOf, isTextOf } from '../job/argument-check.js';
import { checkName } from '../job/definition.js';
import { type Check, checkOptions, isOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';

/**
 * Thresholds at which the dashboard warns about a job type or a queue, instead of its built-in ones, and the webhooks to
 * notify. A rule has at least one threshold.
 */
export interface WarningRule {
  /** Unique among the rules of the application; 1 to 100 characters. */
  readonly name: string;
  /** The job type or the queue that the rule is about. */
  readonly about: { readonly jobName: string } | { readonly queue: string };
  /** Warns if at least this share of the attempts of the last five minutes failed; more than 0, up to 1. */
  readonly failing?: number;
  /** Warns if the 95th percentile of the run times of the last five minutes is at least this long, in milliseconds. */
  readonly slowMs?: number;
  /** Warns if a job has been ready for at least this long, in milliseconds. */
  readonly waitingMs?: number;
  /** The names of the webhooks that get the messages. All webhooks by default, and if none of them is in use. */
  readonly tell?: readonly string[];
}

/** A rule as it is stored. */
export interface StoredWarningRule extends WarningRule {
  /** The application whose code defines the rule. */
  readonly application: string;
  readonly updatedAt: Date;
}

/** The result of `WarningRules.synchronize`: the names of rules. */
export interface RuleSynchronization {
  /** The rules that were added or updated. */
  readonly changed: string[];
  readonly removed: string[];
}

/** Keeps the rules that applications define in code, for all processes that check the warnings. */
export interface WarningRules {
  /** Lists the rules of all applications, up to 1,000, by application and name. */
  list(): Promise<StoredWarningRule[]>;
  /**
   * Adds, updates and removes the application's stored rules to match these.
   *
   * @throws {RangeError} if a rule has a value out of bounds, or no threshold, or if two have the same name
   * @throws {TypeError} if an option of a rule is unknown or of the wrong kind
   */
  synchronize(application: string, rules: readonly WarningRule[]): Promise<RuleSynchronization>;
}

/** Maximum number of rules of an application. */
export const maxWarningRules = 100;

const isName = isTextOf({ min: 1, max: 100 });
const isThreshold = isInteger({ min: 1, max: 2_147_483_647 });

const isShare: Check = (what, value) => {
  if (typeof value === 'number' && value > 0 && value <= 1) return;
  throw new RangeError(`${what} must be a share, more than 0 and up to 1, not ${shown(value)}`);
};

const isSubject: Check = (what, value) => {
  const [[key, name] = [], ...others] = isOptions(value) ? Object.entries(value) : [];
  if (others.length > 0 || (key !== 'jobName' && key !== 'queue'))
    throw new TypeError(`${what} must be either { jobName: … } or { queue: … }, not ${shown(value)}`);
  checkName(key === 'queue' ? 'queue' : 'job', name as string);
};

const ruleOptions: OptionNames<WarningRule> = {
  name: isName,
  about: isSubject,
  failing: isShare,
  slowMs: isThreshold,
  waitingMs: isThreshold,
  tell: isListOf(isName),
};

/**
 * Checks the rules of an application.
 *
 * @param where the function or class that was given the rules, at the start of messages
 * @throws {RangeError} if a rule has a value out of bounds, or no threshold, or if two have the same name
 * @throws {TypeError} if an option of a rule is unknown or of the wrong kind
 */
export function checkWarningRules(where: string, rules: readonly WarningRule[]): void {
  if (!Array.isArray(rules))
    throw new TypeError(
      `${where} must be a list of rules, such as [{ name: 'cards', about: { jobName: 'charge-card' }, failing: 0.5 }], not ${shown(rules)}`,
    );
  if (rules.length > maxWarningRules)
    throw new RangeError(`${where} can have ${maxWarningRules} rules, not ${rules.length}`);
  const names = new Set<string>();
  for (const rule of rules as readonly WarningRule[]) {
    checkOptions(`${where}: a rule`, rule, ruleOptions);
    const { name, about, failing, slowMs, waitingMs } = rule;
    isName(`${where}: name of a rule`, name);
    isSubject(`${where}: about of the rule "${name}"`, about);
    if (failing === undefined && slowMs === undefined && waitingMs === undefined)
      throw new RangeError(`${where}: the rule "${name}" needs a threshold: failing, slowMs or waitingMs`);
    if (names.has(name)) throw new RangeError(`${where}: there are two rules with the name "${name}"`);
    names.add(name);
  }
}

/** Returns what is stored of a rule besides its name, without absent options. */
export function ruleContent(rule: WarningRule): Omit<WarningRule, 'name'> {
  const { about, failing, slowMs, waitingMs, tell } = rule;
  return {
    about,
    ...(failing !== undefined && { failing }),
    ...(slowMs !== undefined && { slowMs }),
    ...(waitingMs !== undefined && { waitingMs }),
    ...(tell !== undefined && { tell }),
  };
}

/** Returns whether two rules of the same name are the same. */
export function isSameRule(one: WarningRule, other: WarningRule): boolean {
  return isDeepStrictEqual(ruleContent(one), ruleContent(other));
}
