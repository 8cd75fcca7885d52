import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { house } from './house/house.js';
import { eventually } from '@longshore/test-support';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

const source = `
import { defineJob, handleJob } from '@longshore/jobs';

const stray = {
  timer: () => void setTimeout(() => { throw new Error('from a timer'); }, 1),
  promise: () => void Promise.reject(new Error('from a promise')),
  'rejection with nothing': () => void Promise.reject(undefined),
  listener: async ({ signal }) => {
    signal.addEventListener('abort', () => { throw new Error('from a listener'); });
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  },
};

export const application = {
  name: 'stray',
  createHandlers: () => [
    ...Object.entries(stray).map(([name, run]) => handleJob(defineJob({ name: name.replaceAll(' ', '-'), maxAttempts: 1, timeoutMs: 1000 }), run)),
    handleJob(defineJob({ name: 'control' }), () => 'fine'),
  ],
};
`;

describe('a worker whose handlers leave work behind that throws', () => {
  const system = useSystem();
  let worker: Service;
  let database: pg.Client;

  before(async () => {
    const directory = path.join(house, '.data', 'stray-errors');
    await mkdir(directory, { recursive: true });
    const file = path.join(directory, 'application.mjs');
    await writeFile(file, source);
    worker = await system().start('worker', { LONGSHORE_APP: file });
    database = new pg.Client(system().postgres.url);
    database.on('error', () => undefined); // Postgres stops before this connection is closed
    await database.connect();
  });

  for (const name of ['timer', 'promise', 'rejection with nothing', 'listener']) {
    it(`continues after an error from a handler's ${name}, and logs it`, async () => {
      const logged = (): string[] => worker.lines.filter((line) => line.includes('stray error'));
      const before = logged().length;
      await database.query('select longshore.enqueue($1)', [name.replaceAll(' ', '-')]);
      await eventually(logged, (lines) => lines.length > before);
      const { rows } = await database.query<{ id: string }>(`select longshore.enqueue('control') as id`);
      await eventually(
        async () =>
          (
            await database.query<{ state: string }>('select state from longshore.job_history where id = $1', [
              rows[0]?.id,
            ])
          ).rows,
        ([control]) => control?.state === 'done',
      );
      expect(worker.ending()).to.equal(null);
    });
  }
});
