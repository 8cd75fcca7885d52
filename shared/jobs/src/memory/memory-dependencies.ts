import { type After, isMet, type ParentEnd, unmetConditionError } from '../job/continuation.js';
import type { JobError } from '../job/job.js';

/** Callbacks for a dependent that is ready to run or must be cancelled. */
export interface DependencyEffects {
  /** Called when all parents have met the condition. */
  release(dependentId: string): void;
  /** Called when a parent has ended without meeting the condition. */
  cancel(dependentId: string, error: JobError): void;
}

/** The condition of a dependent, and the parents that have not met this condition yet. */
interface Unmet {
  readonly when: After['when'];
  readonly parents: Set<string>;
  isWaiting: boolean;
}

/** Tracks which jobs depend on which jobs and batches. */
export class MemoryDependencies {
  /** Maps each dependent's id to its condition and unmet parents. Entries stay until the dependent is deleted. */
  readonly #unmet = new Map<string, Unmet>();
  /** Maps each parent's id to the ids of its dependents, including dependents that are no longer waiting. */
  readonly #dependents = new Map<string, Set<string>>();
  /**
   * Ended parents whose dependents have not been updated yet. A queue is used instead of recursion, because a long
   * chain of jobs could overflow the stack.
   */
  readonly #ends: [parentId: string, end: ParentEnd][] = [];
  #resolving = false;

  add(dependentId: string, { when, parents }: After): void {
    this.#unmet.set(dependentId, { when, parents: new Set(parents), isWaiting: true });
    for (const parent of parents) {
      const dependents = this.#dependents.get(parent);
      if (dependents === undefined) this.#dependents.set(parent, new Set([dependentId]));
      else dependents.add(dependentId);
    }
  }

  dependentsOf(parentId: string): Iterable<string> {
    return this.#dependents.get(parentId) ?? [];
  }

  /**
   * Makes a dependent stop waiting, so that parents no longer affect it. The unmet parents stay recorded, so that the
   * job can wait for them again when it is retried.
   */
  drop(dependentId: string): void {
    const unmet = this.#unmet.get(dependentId);
    if (unmet !== undefined) unmet.isWaiting = false;
  }

  /**
   * Returns a dependent's condition and unmet parents, even if the dependent is no longer waiting. Returns `undefined`
   * if all parents have met the condition or the job has no parents.
   */
  unmetOf(dependentId: string): After | undefined {
    const unmet = this.#unmet.get(dependentId);
    if (unmet === undefined || unmet.parents.size === 0) return undefined;
    return { when: unmet.when, parents: [...unmet.parents] };
  }

  /** Removes the entries of a deleted job or batch. */
  forget(id: string): void {
    this.#dependents.delete(id);
    this.#unmet.delete(id);
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
    const unmet = this.#unmet.get(dependentId);
    if (unmet === undefined || !unmet.isWaiting || !unmet.parents.has(parentId)) return;
    if (isMet(unmet.when, end)) {
      unmet.parents.delete(parentId);
      if (unmet.parents.size > 0) return;
      this.drop(dependentId);
      effects.release(dependentId);
    } else {
      this.drop(dependentId);
      effects.cancel(dependentId, unmetConditionError(parentId, unmet.when, end));
    }
  }
}
