import type { Actions, ActionResult } from '../../actions/action.js';

/** The actions that pause and resume a job type. */
export const typeActions: Actions = {
  '/types/:target/pause': {
    role: 'operator',
    flash: 'The job type was paused. Its jobs will not start until you resume it.',
    perform: ({ jobTypes }, { target }, audit) =>
      jobTypes.pause(target, { audit: audit((before) => typeAfter(target, before === null)) }),
  },
  '/types/:target/resume': {
    role: 'operator',
    flash: 'The job type was resumed.',
    perform: ({ jobTypes }, { target }, audit) =>
      jobTypes.resume(target, { audit: audit((before) => typeAfter(target, before !== null)) }),
  },
};

function typeAfter(name: string, changed: boolean): ActionResult {
  return { next: `types/${encodeURIComponent(name)}`, changed };
}
