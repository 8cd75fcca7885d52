import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Returns the source of a user's application with these jobs. Each attempt of a job takes 30 ms. */
const source = (jobs: readonly string[]): string => `
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, handleJob } from '@longshore/jobs';

const handlers = ${JSON.stringify(jobs)}.map((name) =>
  handleJob(defineJob({ name, maxAttempts: 1 }), async ({ job }) => {
    await sleep(30);
    return job.attempt;
  }),
);

export const application = { name: 'rollout', createHandlers: () => handlers };
`;

/**
 * Writes the application into the checkout at `root`, where it imports that checkout's packages. Resolves to the path
 * of the module.
 */
export async function writeApplication(root: string, jobs: readonly string[]): Promise<string> {
  const directory = path.join(root, '.data', 'rollout-application');
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, 'application.mjs');
  await writeFile(file, source(jobs));
  return file;
}
