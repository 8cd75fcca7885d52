import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@longshore/test-support';
import { launchService, type Service, untilReady } from '../test/system/service.js';
import { writeNotingApplication } from './noting-application.js';
import { makeDirectory, PostgresNode } from './postgres-node.js';
import type { RouteKind } from './routes.js';

/** What a failover has cost. */
export interface Measured {
  /** Milliseconds from the death of the primary to the first request that was accepted. */
  readonly answeredMs: number;
  /** Milliseconds from the death of the primary to the first end of a job. */
  readonly ranMs: number;
  /** Number of jobs that were accepted in total. */
  readonly accepted: number;
  /** Number of requests that were not accepted. */
  readonly refused: number;
  /** Ids of jobs that were accepted, and that the new primary does not have as done. */
  readonly lost: readonly string[];
  /** Ids of jobs of which more than one attempt began. */
  readonly twice: readonly string[];
}

/** The time limits of services outside tests, which tests usually raise. */
const usualLimits = {
  DATABASE_CONNECT_TIMEOUT_MS: '5000',
  DATABASE_SILENCE_TIMEOUT_MS: '1600',
  DATABASE_READ_TIMEOUT_MS: '5000',
  DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS: '300000',
  WORKER_SERVER_TIMEOUT_MS: '30000',
  WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS: '300000',
  WORKER_STOP_TIMEOUT_MS: '25000',
};

/** How many jobs are accepted before the primary dies, and after the first has run on the new one. */
const acceptedBefore = 200;
const acceptedAfter = 100;

/**
 * Kills the primary while an api and two workers are under load, promotes its synchronous standby, makes the route lead
 * there, and measures when work goes on and what has become of each job.
 */
export async function failOver(kind: RouteKind): Promise<Measured> {
  const directory = await makeDirectory(await mkdtemp(path.join(tmpdir(), 'longshore-failover-')));
  const [primaryAddress, standbyAddress] = await kind.addresses();
  const synchronous = { synchronous_standby_names: 'standby', synchronous_commit: 'on' };
  const primary = await PostgresNode.create(path.join(directory, 'primary'), {}, primaryAddress);
  const standby = await primary.makeStandby(path.join(directory, 'standby'), 'standby', standbyAddress);
  await primary.stop();
  await primary.start(synchronous);
  await eventually(
    () => primary.query('postgres', `select from pg_stat_replication where sync_state = 'sync'`),
    (rows) => rows.length === 1,
  );
  const route = await kind.create(primary, standby, path.join(directory, 'route'));
  const application = await writeNotingApplication();
  const environment = {
    ...usualLimits,
    ...route.environment,
    API_STORAGE: 'postgres',
    LONGSHORE_APP: application.file,
    LONGSHORE_TEST_JOB: 'false',
  };
  const services: Service[] = [];
  try {
    for (const name of ['api', 'worker', 'worker'] as const)
      services.push(await untilReady(await launchService(name, environment)));
    const load = new Load(services[0]?.url ?? '');
    load.start();
    await eventually(
      () => load.accepted.length,
      (count) => count >= acceptedBefore,
    );

    const diedAt = performance.now();
    await primary.stop('SIGQUIT');
    await standby.promote();
    await route.follow(standby);
    const [{ now } = { now: '' }] = await standby.query<{ now: string }>(
      'postgres',
      'select clock_timestamp()::text as now',
    );
    await eventually(() => load.firstAfter(diedAt) !== undefined);
    const ended = `select from longshore.job_history where finished_at > $1 limit 1`;
    await eventually(
      () => standby.query('jobs', ended, [now]),
      (rows) => rows.length > 0,
      { everyMs: 5 },
    );
    const ranMs = performance.now() - diedAt;
    const enough = load.accepted.length + acceptedAfter;
    await eventually(
      () => load.accepted.length,
      (count) => count >= enough,
    );
    await load.stop();

    const undone = async (): Promise<string[]> => {
      const rows = await standby.query<{ id: string }>(
        'jobs',
        `select id from unnest($1::uuid[]) as id
        where id not in (select id from longshore.job_history where state = 'done')`,
        [load.accepted],
      );
      return rows.map(({ id }) => id);
    };
    // Ends when all are done, or when nothing has changed for a while: then the others are lost.
    const lost = await eventually(undone, (ids) => ids.length === 0, { checks: 600, everyMs: 100 }).catch(
      undone,
    );
    const begun = await application.begun();
    return {
      answeredMs: (load.firstAfter(diedAt) ?? NaN) - diedAt,
      ranMs,
      accepted: load.accepted.length,
      refused: load.refused,
      lost,
      twice: [...new Set(begun.filter((id, place) => begun.indexOf(id) !== place))],
    };
  } finally {
    await Promise.all(services.map((service) => service.end('SIGKILL')));
    await route.close();
    await Promise.all([primary.stop(), standby.stop()]);
    await rm(directory, { recursive: true, force: true });
    await application.remove();
  }
}

/** Sends one job after the other to an api, and remembers which were accepted. */
class Load {
  readonly accepted: string[] = [];
  refused = 0;
  readonly #url: string;
  readonly #answers: { readonly sentAt: number; readonly answeredAt: number }[] = [];
  #running: Promise<void> | undefined;
  #stopped = false;

  constructor(url: string) {
    this.#url = url;
  }

  start(): void {
    this.#running = Promise.all([this.#run(), this.#run(), this.#run(), this.#run()]).then(() => undefined);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Returns when the first job that was sent after a time was accepted. */
  firstAfter(time: number): number | undefined {
    return this.#answers.find(({ sentAt }) => sentAt > time)?.answeredAt;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const sentAt = performance.now();
      const response = await fetch(`${this.#url}/api/v1/jobs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'note', args: {} }),
      });
      const body = (await response.json()) as { id?: string };
      if (response.status === 201 && body.id !== undefined) {
        this.accepted.push(body.id);
        this.#answers.push({ sentAt, answeredAt: performance.now() });
      } else this.refused++;
    }
  }
}
