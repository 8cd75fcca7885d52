import { defineJob, handleJob } from '@longshore/jobs';

/** The application of the services while HTTP is measured: a job that does nothing. */
export const application = {
  name: 'bench',
  createHandlers: () => [handleJob(defineJob({ name: 'bench' }), () => undefined)],
};
