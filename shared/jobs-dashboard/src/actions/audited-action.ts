import type { JsonValue } from '@longshore/jobs';
import type { Viewer } from '../auth/viewer.js';
import { Problem } from '../http/problem.js';
import type { ActionResult } from './action.js';
import { countedBy, type Intent, storedDetails } from './audit-details.js';
import type { DashboardControl } from './control.js';
import { InterruptedAction, interruptedAs } from './interrupted-action.js';

/** An action that was carried out, for the host application’s log. */
export interface ActionRecord {
  readonly viewer: Viewer;
  /** The client’s address, as the application sees it. */
  readonly address: string;
  /** `jobs/retry`, `queues/pause` and so on. */
  readonly action: string;
  /** The id or the name of what was changed. */
  readonly target: string | null;
  /** How many things were changed: 0 if no change was needed, `null` if counting took too long. */
  readonly count: number | null;
  /** `false` if `count` is a lower bound. */
  readonly exact: boolean;
  /** The jobs of a bulk action. */
  readonly filter: JsonValue;
  /** The values of the form, if any. */
  readonly values: JsonValue;
  /** The values before the change; `null` if unknown. */
  readonly before: JsonValue;
}

/** An action that is about to be carried out. */
export interface PendingAction {
  readonly viewer: Viewer;
  readonly address: string;
  readonly action: string;
  readonly target: string;
  readonly intent: Intent;
}

/**
 * Records an audit entry, carries out the action, and adds the result to the entry. If the entry cannot be
 * recorded, the action is not carried out. If the result is not known, the entry stays `begun`.
 *
 * @throws {InterruptedAction} for any error other than a Problem
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
