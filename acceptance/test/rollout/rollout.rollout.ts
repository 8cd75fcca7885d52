import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { house } from '../house/house.js';
import { eventually } from '@longshore/test-support';
import { type Postgres, startPostgres } from '../system/postgres.js';
import { launchService, type Service, type ServiceName, untilReady } from '../system/service.js';
import { writeApplication } from './application.js';
import { Load } from './load.js';
import { buildPreviousRelease } from './previous-release.js';

type Version = 'old' | 'new';
type Step = readonly [name: ServiceName, from: Version, to: Version];

const forward = (name: ServiceName): Step => [name, 'old', 'new'];
const backward = (name: ServiceName): Step => [name, 'new', 'old'];

interface Rollout {
  readonly steps: readonly Step[];
  /** Whether a separate step migrates, and services of the new version only verify that it has. */
  readonly separately: boolean;
}

const rollouts: Readonly<Record<string, Rollout>> = {
  'the workers first, and back again': {
    steps: [
      forward('worker'),
      forward('api'),
      forward('dashboard'),
      backward('worker'),
      backward('api'),
      backward('dashboard'),
    ],
    separately: false,
  },
  'the api first, and back again, migrated by a separate step': {
    steps: [
      forward('api'),
      forward('dashboard'),
      forward('worker'),
      backward('dashboard'),
      backward('api'),
      backward('worker'),
    ],
    separately: true,
  },
};

/** Runs `longshore migrate` of this version. */
async function migrateSeparately(url: string, application: string): Promise<void> {
  const main = path.join(house, 'services/cli/dist/main.js');
  const env = { ...process.env, DATABASE_URL: url, API_AUTH: 'none' };
  await promisify(execFile)(process.execPath, [main, 'migrate', application], { env });
}

/** Number of jobs that must finish before the next step of the rollout. */
const jobsTogether = 60;

describe('rolling out this version over the previous one, under load', () => {
  const roots: Record<Version, string> = { old: '', new: house };
  const applications: Record<Version, string> = { old: '', new: '' };

  before(async () => {
    roots.old = await buildPreviousRelease();
    applications.old = await writeApplication(roots.old, ['known']);
    applications.new = await writeApplication(house, ['known', 'brand-new']);
  });

  for (const [order, { steps, separately }] of Object.entries(rollouts)) {
    describe(order, () => {
      const load = new Load(() => count('true'));
      let postgres: Postgres;
      let database: pg.Client;
      const services = new Map<string, Service>();

      async function start(name: ServiceName, version: Version): Promise<Service> {
        const service = await launchService(
          name,
          {
            DATABASE_URL: postgres.url,
            LONGSHORE_APP: applications[version],
            ...(separately && version === 'new' && { DATABASE_MIGRATE: 'verify' }),
          },
          roots[version],
        );
        services.set(`${version} ${name}`, service);
        await untilReady(service);
        if (name === 'api') load.use(service.url);
        return service;
      }

      const count = async (condition: string): Promise<number> => {
        const { rows } = await database.query<{ jobs: number }>(
          `select count(*)::integer as jobs from longshore.job_history where ${condition}`,
        );
        return rows[0]?.jobs ?? 0;
      };

      async function runTogether(): Promise<void> {
        const before = await count('true');
        await eventually(
          () => count('true'),
          (now) => now >= before + jobsTogether,
        );
      }

      before(async () => {
        postgres = await startPostgres();
        for (const name of ['api', 'worker', 'dashboard'] as const) await start(name, 'old');
        database = new pg.Client(postgres.url);
        await database.connect();
        load.start();
        await runTogether();
        if (separately) await migrateSeparately(postgres.url, applications.new);
        for (const [name, from, to] of steps) {
          await start(name, to);
          await runTogether();
          await services.get(`${from} ${name}`)?.end('SIGTERM');
          await runTogether();
        }
        await load.stop();
      });

      after(async () => {
        await load.stop();
        await database.end();
        await Promise.all([...services.values()].map((service) => service.end('SIGKILL')));
        await postgres.remove();
      });

      it('rejects no job', () => {
        expect(load.refused).to.deep.equal([]);
      });

      it('runs every job that was accepted, in its first and only attempt', async () => {
        await eventually(
          () => count('true'),
          (jobs) => jobs >= load.accepted.length,
        );
        const { rows } = await database.query<{ state: string; attempt: number; jobs: number }>(
          `select state::text, attempt, count(*)::integer as jobs from longshore.job_history where id = any ($1)
           group by state, attempt`,
          [load.accepted],
        );
        expect(rows).to.deep.equal([{ state: 'done', attempt: 1, jobs: load.accepted.length }]);
      });

      it('ends every process without an error', () => {
        const errors = [...services].flatMap(([name, service]) =>
          service.lines.filter((line) => line.includes('"level":50')).map((line) => `${name}: ${line}`),
        );
        expect(errors).to.deep.equal([]);
      });
    });
  }

  it('leaves jobs that only the new version knows to its workers, although an old one consumes the queue', async () => {
    const postgres = await startPostgres();
    const environment = (version: Version): Record<string, string> => ({
      DATABASE_URL: postgres.url,
      LONGSHORE_APP: applications[version],
    });
    const database = new pg.Client(postgres.url);
    const workers: Service[] = [];
    try {
      for (const version of ['new', 'old'] as const)
        workers.push(await untilReady(await launchService('worker', environment(version), roots[version])));
      await database.connect();
      await database.query(
        `select longshore.enqueue('brand-new', max_attempts => 1) from generate_series(1, 40)`,
      );
      await eventually(
        async () =>
          (
            await database.query<{ state: string; jobs: number }>(
              'select state::text, count(*)::integer as jobs from longshore.job_history group by state',
            )
          ).rows,
        ([done, ...others]) => done?.state === 'done' && done.jobs === 40 && others.length === 0,
      );
    } finally {
      await database.end();
      await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
      await postgres.remove();
    }
  });
});
