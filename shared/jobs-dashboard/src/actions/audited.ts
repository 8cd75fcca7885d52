import type { JsonValue } from '@longshore/jobs';
import type { Viewer } from '../access/viewer.js';
import { Problem } from '../http/problem.js';
import type { Deed } from './action.js';
import { countedBy, type Intent, storedDetails } from './audit-details.js';
import type { DashboardControl } from './control.js';
import { InterruptedAction, within } from './interrupted.js';

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
export interface Undertaking {
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
export async function audited(
  audit: DashboardControl['audit'],
  { viewer, address, action, target: named, intent }: Undertaking,
  act: () => Promise<Deed>,
): Promise<{ deed: Deed; record: ActionRecord }> {
  const facts = { address, unverified: viewer.unverified === true };
  const begun = storedDetails(intent, { ...facts, outcome: 'begun' });
  const told = { action, target: named || null };
  const id = await within('undone', audit.record({ who: viewer.name, ...told, filter: begun, count: 0 }));
  try {
    const deed = await act();
    const target = deed.target ?? told.target;
    const { changed = true, before = null } = deed;
    const { count, counted } = countedBy(
      deed.count === undefined ? { count: changed ? 1 : 0, exact: true } : deed.count,
    );
    const outcome = changed ? 'done' : 'without effect';
    const ended = { target, count, filter: storedDetails(intent, { ...facts, outcome, counted, before }) };
    await within('done', audit.amend(id, ended));
    const { filter = null, values = null } = intent;
    const known = { count: counted === 'not' ? null : count, exact: counted === 'exactly' };
    return { deed, record: { viewer, address, ...told, target, ...known, filter, values, before } };
  } catch (error) {
    if (error instanceof Problem) {
      const refused = { ...facts, outcome: 'refused', why: error.told.title } as const;
      const ended = { target: told.target, count: 0, filter: storedDetails(intent, refused) };
      await within('undone', audit.amend(id, ended));
    }
    if (error instanceof Problem || error instanceof InterruptedAction) throw error;
    throw new InterruptedAction('unknown', error);
  }
}
