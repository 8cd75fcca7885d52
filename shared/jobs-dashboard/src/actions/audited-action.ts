import type { JsonValue } from '@longshore/jobs';
import type { NewAuditEntry } from '@longshore/jobs/storage';
import type { Viewer } from '../auth/viewer.js';
import { Problem } from '../http/problem.js';
import type { ActionResult, Audited } from './action.js';
import { countedBy, type Intent, storedDetails } from './audit-details.js';
import { InterruptedAction } from './interrupted-action.js';

/** A completed action, reported to the host application, for example for logging. */
export interface ActionRecord {
  readonly viewer: Viewer;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** The action's path without `:target`, such as `jobs/retry` or `queues/pause`. */
  readonly action: string;
  /** The id or name of what was changed; `null` if there is no single target. */
  readonly target: string | null;
  /** The number of affected jobs or other targets: 0 if no change was needed, `null` if counting took too long. */
  readonly count: number | null;
  /** `false` if `count` is a lower bound or `null`. */
  readonly exact: boolean;
  /** The jobs of a bulk action; `null` for other actions. */
  readonly filter: JsonValue;
  /** The submitted values; `null` if there are none. */
  readonly values: JsonValue;
  /** The values before the change; `null` if unknown. */
  readonly before: JsonValue;
  /** The viewer's reason; `null` if they gave none. */
  readonly reason: string | null;
}

export interface PendingAction {
  readonly viewer: Viewer;
  readonly address: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string | null;
  readonly intent: Intent;
}

/**
 * Carries out an action. The storage writes the audit entry in the same transaction, even if the action is refused.
 *
 * @throws {Problem} if the form is invalid or the action is refused
 * @throws {InterruptedAction} if `perform` fails for any other reason
 */
export async function runAudited(
  pending: PendingAction,
  perform: (audit: Audited) => Promise<unknown>,
): Promise<{ result: ActionResult; record: ActionRecord }> {
  let outcome = null as ActionResult | Problem | null;
  try {
    await perform((judge) => (result) => {
      outcome = judged(() => judge(result));
      return entryOf(pending, outcome);
    });
  } catch (error) {
    if (error instanceof Problem) throw error;
    // Before it commits, the storage calls the function above, which sets `outcome`. If `outcome` is still `null`,
    // nothing has been committed.
    throw new InterruptedAction(outcome === null ? 'undone' : 'unknown', error);
  }
  if (outcome === null) throw new Error(`The action ${pending.action} has stored no audit entry`);
  if (outcome instanceof Problem) throw outcome;
  return { result: outcome, record: recordOf(pending, outcome) };
}

function judged(judge: () => ActionResult): ActionResult | Problem {
  try {
    return judge();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function entryOf(pending: PendingAction, outcome: ActionResult | Problem): NewAuditEntry {
  const { viewer, address, action, target, reason, intent } = pending;
  const origin = { address, unverified: viewer.unverified === true };
  const entry = { who: viewer.name, action, reason };
  if (outcome instanceof Problem) {
    const details = { ...origin, outcome: 'refused', why: outcome.content.title } as const;
    return { ...entry, target: target || null, count: 0, filter: storedDetails(intent, details) };
  }
  const { changed = true, before = null } = outcome;
  const { count, counted } = countOf(outcome);
  const details = { ...origin, outcome: changed ? 'done' : 'without effect', counted, before } as const;
  return { ...entry, target: targetOf(pending, outcome), count, filter: storedDetails(intent, details) };
}

function recordOf(pending: PendingAction, result: ActionResult): ActionRecord {
  const { viewer, address, action, reason, intent } = pending;
  const { filter = null, values = null } = intent;
  const { count, counted } = countOf(result);
  return {
    viewer,
    address,
    action,
    target: targetOf(pending, result),
    count: counted === 'not' ? null : count,
    exact: counted === 'exactly',
    filter,
    values,
    before: result.before ?? null,
    reason,
  };
}

function targetOf({ target }: PendingAction, result: ActionResult): string | null {
  return result.target ?? (target || null);
}

function countOf({ count, changed = true }: ActionResult): ReturnType<typeof countedBy> {
  return countedBy(count === undefined ? { count: changed ? 1 : 0, exact: true } : count);
}
