import { isSamePause, type NewPause, notPaused, type PauseState } from '@longshore/jobs/storage';
import type { ActionRequest } from './action.js';
import type { Intent } from './audit-details.js';
import { pauseEndField } from './fields.js';

/**
 * Returns the pause that a form requests.
 *
 * @throws {Problem} if the end of the pause is invalid
 */
export function pauseIn({ form, viewer, reason, nowMs }: ActionRequest): NewPause {
  return { by: viewer.name, reason, until: pauseEndField(form, nowMs) };
}

/** Returns the end of a requested pause, if it has one, for the audit entry. The reason is recorded separately. */
export function pauseIntent(request: ActionRequest): Intent {
  const { until } = pauseIn(request);
  return until === null ? {} : { values: { until: until.toISOString() } };
}

/** Returns whether the requested pause differs from the current one. `before` is `null` if nothing is paused. */
export function isNewPause(before: PauseState | null, request: ActionRequest): boolean {
  return !isSamePause(before ?? notPaused, pauseIn(request));
}
