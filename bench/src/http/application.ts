import { defineJob, handleJob } from '@longshore/jobs';

/** The application that the services load for the HTTP scenarios. Its only job does nothing. */
export const application = {
  name: 'bench',
  createHandlers: () => [handleJob(defineJob({ name: 'bench' }), () => undefined)],
};
