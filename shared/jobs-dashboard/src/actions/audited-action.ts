import type { JsonValue } from '@longshore/jobs';
import type { Viewer } from '../auth/viewer.js';
import { Problem } from '../http/problem.js';
import type { ActionResult } from './action.js';
import { countedBy, type Intent, storedDetails } from './audit-details.js';
import type { DashboardControl } from './control.js';
import { InterruptedAction, interruptedAs } from './interrupted-action.js';

/** What somebody did on the dashboard, for the host application’s records. */
export interface ActionRecord {
  readonly viewer: Viewer;
  /** The client’s, as the application sees it. */
  readonly address: string;
  /** `jobs/retry`, `queues/pause`, and so on: what it is about, and what was done. */
  readonly action: string;
  /** The id or the name of what it was done to. */
  readonly target: string | null;
  /** How many things it was done to: 0 if all was already so, `null` if to count took too long. */
  readonly count: number | null;
  /** Whether there may be more than `count`. */
  readonly exact: boolean;
  /** Which jobs, if it was done to many. */
  readonly filter: JsonValue;
  /** What was filled in, if anything. */
  readonly values: JsonValue;
  /** What was there before it; `null` if that is not known. */
  readonly before: JsonValue;
}

/** Something about to be done. */
export interface PendingAction {
  readonly viewer: Viewer;
  readonly address: string;
  readonly action: string;
  readonly target: string;
  readonly intent: Intent;
}

/**
 * Notes down what is about to be done, does it, and notes down how that ended. If it cannot be noted down, it is not done;
 * if it is not known how it ended, the entry says that it has begun.
 *
 * @throws {InterruptedAction} if anything but a Problem comes in between
 */
export async function runAudited(
  audit: DashboardControl['audit'],
  { viewer, address, action, target: named, intent }: PendingAction,
  act: () => Promise<ActionResult>,
): Promise<{ result: ActionResult; record: ActionRecord }> {
  const origin = { address, unverified: viewer.unverified === true };
  const begun = storedDetails(intent, { ...origin, outcome: 'begun' });
  const about = { action, target: named || null };
  const id = await interruptedAs(
    'undone',
    audit.record({ who: viewer.name, ...about, filter: begun, count: 0 }),
  );
  try {
    const result = await act();
    const target = result.target ?? about.target;
    const { changed = true, before = null } = result;
    const { count, counted } = countedBy(
      result.count === undefined ? { count: changed ? 1 : 0, exact: true } : result.count,
    );
    const outcome = changed ? 'done' : 'without effect';
    const ended = { target, count, filter: storedDetails(intent, { ...origin, outcome, counted, before }) };
    await interruptedAs('done', audit.amend(id, ended));
    const { filter = null, values = null } = intent;
    const known = { count: counted === 'not' ? null : count, exact: counted === 'exactly' };
    return { result, record: { viewer, address, ...about, target, ...known, filter, values, before } };
  } catch (error) {
    if (error instanceof Problem) {
      const refused = { ...origin, outcome: 'refused', why: error.content.title } as const;
      const ended = { target: about.target, count: 0, filter: storedDetails(intent, refused) };
      await interruptedAs('undone', audit.amend(id, ended));
    }
    if (error instanceof Problem || error instanceof InterruptedAction) throw error;
    throw new InterruptedAction('unknown', error);
  }
}
