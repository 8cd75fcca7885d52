import { type After, brokenCondition, isMet, type ParentEnd } from '../job/continuation.js';
import type { JobError } from '../job/job.js';

/** What becomes of jobs that wait when one they wait for has ended. */
export interface LinkEffects {
  /** Every parent came to the wanted end. */
  release(childId: string): void;
  cancel(childId: string, error: JobError): void;
}

/** Which jobs wait for which jobs and batches. */
export class MemoryLinks {
  /** By child: the parents that have not ended. */
  readonly #waiting = new Map<string, { readonly after: After; readonly open: Set<string> }>();
  /** By parent: those that wait or waited for it. */
  readonly #children = new Map<string, Set<string>>();
  /** Ends that have not been acted upon; a queue instead of recursion, for chains of jobs may be long. */
  readonly #ends: [parentId: string, end: ParentEnd][] = [];
  #acting = false;

  add(childId: string, after: After): void {
    this.#waiting.set(childId, { after, open: new Set(after.parents) });
    for (const parent of after.parents) {
      const children = this.#children.get(parent);
      if (children === undefined) this.#children.set(parent, new Set([childId]));
      else children.add(childId);
    }
  }

  childrenOf(parentId: string): Iterable<string> {
    return this.#children.get(parentId) ?? [];
  }

  /** This job waits no longer, whatever becomes of its parents. */
  drop(childId: string): void {
    this.#waiting.delete(childId);
  }

  /** Forgets who waited for a job that is forgotten itself. */
  forget(parentId: string): void {
    this.#children.delete(parentId);
  }

  ended(parentId: string, end: ParentEnd, effects: LinkEffects): void {
    this.#ends.push([parentId, end]);
    if (this.#acting) return;
    this.#acting = true;
    try {
      for (let next = this.#ends.shift(); next !== undefined; next = this.#ends.shift()) {
        for (const child of this.childrenOf(next[0])) this.#tell(child, ...next, effects);
      }
    } finally {
      this.#acting = false;
    }
  }

  #tell(childId: string, parentId: string, end: ParentEnd, effects: LinkEffects): void {
    const link = this.#waiting.get(childId);
    if (link === undefined || !link.open.has(parentId)) return;
    if (isMet(link.after.when, end)) {
      link.open.delete(parentId);
      if (link.open.size > 0) return;
      this.drop(childId);
      effects.release(childId);
    } else {
      this.drop(childId);
      effects.cancel(childId, brokenCondition(parentId, link.after.when, end));
    }
  }
}
