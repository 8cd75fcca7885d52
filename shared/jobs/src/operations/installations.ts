import { notPaused } from '../job/pause.js';
import type { InstallationState } from '../storage/installation.js';
import { noFields, operation } from './operation.js';
import { factsOfResumption, resuming } from './pauses.js';

/** The operations on an installation as a whole. */
export const installationOperations = {
  resume: operation<typeof noFields, InstallationState, InstallationState | null>({
    ...resuming,
    on: 'installations',
    summary: 'Resume an installation that was paused because it is a restored copy',
    note: 'Servers start jobs and enqueue those of recurring jobs again, and messages about warnings are sent. Has no effect if it is not paused.',
    message: 'The installation is resumed. Jobs start within seconds.',
    fields: noFields,
    change: ({ installation }, { target }, options) => installation.resume(target, options),
    facts: (before) =>
      before === null ? { outcome: 'unknown' } : factsOfResumption({ ...notPaused, ...before }),
    after: (_storage, _call, before) => before && { ...before, pausedAt: null },
  }),
};
