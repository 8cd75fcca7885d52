import type { Actions, ActionResult } from '../../actions/action.js';
import { isNewPause, pauseIn, pauseIntent } from '../../actions/pausing.js';

export const typeActions: Actions = {
  '/types/:target/pause': {
    role: 'operator',
    isReasoned: true,
    flash: 'The job type is paused. Its jobs do not start until it is resumed.',
    intent: pauseIntent,
    perform: ({ jobTypes }, request, audit) =>
      jobTypes.pause(request.target, {
        ...pauseIn(request),
        audit: audit((before) => typeAfter(request.target, isNewPause(before, request))),
      }),
  },
  '/types/:target/resume': {
    role: 'operator',
    flash: 'The job type is resumed.',
    perform: ({ jobTypes }, { target }, audit) =>
      jobTypes.resume(target, { audit: audit((before) => typeAfter(target, before !== null)) }),
  },
};

function typeAfter(name: string, changed: boolean): ActionResult {
  return { next: `types/${encodeURIComponent(name)}`, changed };
}
