import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { house } from '../test/house/house.js';

/** An application whose job `note` notes each attempt in a file, which no failover and no restore can undo. */
export interface NotingApplication {
  /** The path of its module. */
  readonly file: string;
  /** Returns the ids of the jobs whose attempts have begun, in order. */
  begun(): Promise<string[]>;
  remove(): Promise<void>;
}

const source = (notes: string): string => `
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob, handleJob } from '@longshore/jobs';

const handler = handleJob(defineJob({ name: 'note' }), async ({ job }) => {
  appendFileSync(${JSON.stringify(notes)}, job.id + '\\n');
  await sleep(20);
});
export const application = { name: 'noting', createHandlers: () => [handler] };
`;

/** Writes the application into this repository, so that it finds its packages. */
export async function writeNotingApplication(): Promise<NotingApplication> {
  const applications = path.join(house, '.data', 'noting');
  await mkdir(applications, { recursive: true });
  const directory = await mkdtemp(path.join(applications, 'application-'));
  const file = path.join(directory, 'application.mjs');
  const notes = path.join(directory, 'notes');
  await writeFile(file, source(notes));
  await writeFile(notes, '');
  return {
    file,
    begun: async () => (await readFile(notes, 'utf8')).split('\n').filter(Boolean),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
