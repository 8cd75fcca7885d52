import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { house } from '../house/house.js';

/** Jobs that run until the test calls `finish`. */
export interface ControllableJobs {
  /** Path of an application module with the job `held`, for use as `LONGSHORE_APP`. */
  readonly application: string;
  /** Lets all running jobs finish. Jobs that start later finish immediately. */
  finish(): Promise<void>;
  remove(): Promise<void>;
}

const source = (finished: string): string => `
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, handleJob } from '@longshore/jobs';

const held = handleJob(defineJob({ name: 'held' }), async ({ signal }) => {
  while (!existsSync(${JSON.stringify(finished)})) await sleep(20, undefined, { signal });
  return { held: true };
});

export const application = { name: 'held', createHandlers: () => [held] };
`;

/** Writes the application inside the repository, so that it can import the packages. */
export async function createControllableJobs(): Promise<ControllableJobs> {
  const data = path.join(house, '.data');
  await mkdir(data, { recursive: true });
  const directory = await mkdtemp(path.join(data, 'held-'));
  const finished = path.join(directory, 'finished');
  const application = path.join(directory, 'application.mjs');
  await writeFile(application, source(finished));
  return {
    application,
    finish: () => writeFile(finished, ''),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
