import { type After, isMet, type ParentEnd, unmetConditionError } from '../job/continuation.js';
import type { JobError } from '../job/job.js';

/** Changes the state of dependents once it is known whether their condition is met. */
export interface DependencyEffects {
  /** Called when every parent has met the condition. */
  release(dependentId: string): void;
  cancel(dependentId: string, error: JobError): void;
}

/** Tracks which jobs depend on which jobs and batches. */
export class MemoryDependencies {
  /** Maps each waiting dependent to its condition and to the parents that have not ended. */
  readonly #waiting = new Map<string, { readonly after: After; readonly open: Set<string> }>();
  /** Maps each dependent that has not been deleted to its condition. */
  readonly #after = new Map<string, After>();
  /** Maps each parent to its dependents, including those that are no longer waiting. */
  readonly #dependents = new Map<string, Set<string>>();
  /**
   * Ends of parents that still have to be applied to their dependents. A queue rather than recursion, because chains of
   * jobs may be long.
   */
  readonly #ends: [parentId: string, end: ParentEnd][] = [];
  #resolving = false;

  add(dependentId: string, after: After): void {
    this.#after.set(dependentId, after);
    this.#waiting.set(dependentId, { after, open: new Set(after.parents) });
    for (const parent of after.parents) {
      const dependents = this.#dependents.get(parent);
      if (dependents === undefined) this.#dependents.set(parent, new Set([dependentId]));
      else dependents.add(dependentId);
    }
  }

  dependentsOf(parentId: string): Iterable<string> {
    return this.#dependents.get(parentId) ?? [];
  }

  /** Stops tracking a dependent, so that its parents no longer affect it. */
  drop(dependentId: string): void {
    this.#waiting.delete(dependentId);
  }

  /** Returns the parents and the condition of a dependent, even if it no longer waits; `undefined` if it never had parents. */
  afterOf(dependentId: string): After | undefined {
    return this.#after.get(dependentId);
  }

  /** Forgets a deleted job or batch. */
  forget(id: string): void {
    this.#dependents.delete(id);
    this.#after.delete(id);
  }

  parentEnded(parentId: string, end: ParentEnd, effects: DependencyEffects): void {
    this.#ends.push([parentId, end]);
    if (this.#resolving) return;
    this.#resolving = true;
    try {
      for (let next = this.#ends.shift(); next !== undefined; next = this.#ends.shift()) {
        for (const dependent of this.dependentsOf(next[0])) this.#resolve(dependent, ...next, effects);
      }
    } finally {
      this.#resolving = false;
    }
  }

  #resolve(dependentId: string, parentId: string, end: ParentEnd, effects: DependencyEffects): void {
    const waiting = this.#waiting.get(dependentId);
    if (waiting === undefined || !waiting.open.has(parentId)) return;
    if (isMet(waiting.after.when, end)) {
      waiting.open.delete(parentId);
      if (waiting.open.size > 0) return;
      this.drop(dependentId);
      effects.release(dependentId);
    } else {
      this.drop(dependentId);
      effects.cancel(dependentId, unmetConditionError(parentId, waiting.after.when, end));
    }
  }
}
