import type { Clock } from '../job/clock.js';
import {
  checkWarningRules,
  isSameRule,
  ruleContent,
  type RuleSynchronization,
  type StoredWarningRule,
  type WarningRule,
  type WarningRules,
} from '../storage/warning-rules.js';

export class MemoryWarningRules implements WarningRules {
  readonly #clock: Clock;
  /** The rules by application and name. */
  readonly #rules = new Map<string, Map<string, StoredWarningRule>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async list(): Promise<StoredWarningRule[]> {
    return inOrder([...this.#rules]).flatMap(([, rules]) => inOrder([...rules]).map(([, rule]) => rule));
  }

  async synchronize(application: string, rules: readonly WarningRule[]): Promise<RuleSynchronization> {
    checkWarningRules('synchronize', rules);
    const before = this.#rules.get(application) ?? new Map<string, StoredWarningRule>();
    const updatedAt = new Date(this.#clock.now());
    const changed = rules.filter((rule) => {
      const stored = before.get(rule.name);
      return stored === undefined || !isSameRule(stored, rule);
    });
    const after = new Map(
      rules.map((rule) => {
        const { name } = rule;
        const stored = changed.includes(rule) ? undefined : before.get(name);
        return [name, stored ?? { application, name, ...structuredClone(ruleContent(rule)), updatedAt }];
      }),
    );
    this.#rules.set(application, after);
    return {
      changed: changed.map(({ name }) => name).toSorted(),
      removed: [...before.keys()].filter((name) => !after.has(name)).toSorted(),
    };
  }
}

function inOrder<Value>(entries: readonly (readonly [string, Value])[]): (readonly [string, Value])[] {
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1));
}
