import { setTimeout as sleep } from 'node:timers/promises';
import type { JobStorage } from '@longshore/jobs';
import { type Orphan, type Queue, type SetAside, unfinishedStates } from '@longshore/jobs/storage';
import { Gauge, Registry } from 'prom-client';
import { maxLabelValues, others } from './label-values.js';

/** A storage whose metrics can be read. */
export type MeasuredStorage = Pick<
  JobStorage,
  'jobs' | 'queues' | 'servers' | 'recurring' | 'installation' | 'clock'
> & {
  readonly setAside: Pick<SetAside, 'count'>;
  /** Returns the number of the newest migration that the database has; absent if the storage has no migrations. */
  readonly migrationVersion?: () => Promise<number>;
};

/** Time limit for reading the storage, in milliseconds: half of Prometheus' default time limit of a scrape. */
const readMs = 5_000;

/** A metric of the storage, with the values that it has. */
interface Family {
  readonly name: string;
  readonly help: string;
  readonly values: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[];
}

/**
 * Reads the metrics of the storage as they are now, within five seconds. Each read that fails or takes longer is left out and
 * counted by `longshore_storage_failed_reads`.
 */
export async function readStorageMetrics(storage: MeasuredStorage): Promise<Registry> {
  const ended = new AbortController();
  const late = sleep(readMs, 'late' as const, { signal: ended.signal, ref: false }).catch(
    () => 'late' as const,
  );
  const families: Family[] = [];
  let failed = 0;
  const reads = readers.map(async (read) => {
    const answer = await Promise.race([read(storage).catch(() => 'failed' as const), late]);
    if (typeof answer === 'string') failed += 1;
    else families.push(...answer);
  });
  await Promise.all(reads);
  ended.abort();
  const registry = new Registry();
  for (const family of families) add(registry, family);
  add(registry, {
    name: 'longshore_storage_failed_reads',
    help: 'Reads of the storage that failed or took too long during this scrape; their metrics are absent from it',
    values: [[{}, failed]],
  });
  return registry;
}

function add(registry: Registry, { name, help, values }: Family): void {
  const labelNames = [...new Set(values.flatMap(([labels]) => Object.keys(labels)))];
  const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
  for (const [labels, value] of values) gauge.set(labels, value);
}

type Reader = (storage: MeasuredStorage) => Promise<Family[]>;

const readJobs: Reader = async ({ jobs }) => [
  {
    name: 'longshore_jobs',
    help: 'Jobs by state, across all queues',
    values: Object.entries(await jobs.stateCounts()).map(([state, count]) => [{ state }, count]),
  },
];

const readServers: Reader = async ({ servers }) => [
  {
    name: 'longshore_servers',
    help: 'Job servers that send heartbeats, including quiet and stopping ones',
    values: [[{}, (await servers.list()).length]],
  },
];

const readOrphans: Reader = async ({ jobs }) => {
  const orphans = (await jobs.listOrphans()).toSorted((one, other) => other.jobs - one.jobs);
  const unlisted = orphans.slice(maxLabelValues);
  const reasons = [...new Set(unlisted.map(({ reason }) => reason))];
  return [
    {
      name: 'longshore_orphaned_jobs',
      help: 'Jobs that no running server can take, by queue, job type and reason: no-server or no-handler',
      values: [
        ...orphans
          .slice(0, maxLabelValues)
          .map(({ queue, name, reason, jobs: count }) => [{ queue, type: name, reason }, count] as const),
        ...reasons.map(
          (reason) => [{ queue: others, type: others, reason }, totalOf(unlisted, reason)] as const,
        ),
      ],
    },
  ];
};

function totalOf(orphans: readonly Orphan[], wanted: Orphan['reason']): number {
  return orphans.reduce((sum, { reason, jobs }) => (reason === wanted ? sum + jobs : sum), 0);
}

const readSetAside: Reader = async ({ setAside }) => [
  {
    name: 'longshore_set_aside',
    help: 'Items that background work skipped because of invalid data, by role',
    values: Object.entries(await setAside.count()).map(([role, items]) => [{ role }, items]),
  },
];

function unfinishedIn({ counts }: Queue): number {
  return unfinishedStates.reduce((sum, state) => sum + counts[state], 0);
}

const readQueues: Reader = async ({ queues, clock }) => {
  const all = (await queues.list()).toSorted((one, other) => unfinishedIn(other) - unfinishedIn(one));
  const unlisted = all.slice(maxLabelValues);
  const groups = [
    ...all.slice(0, maxLabelValues).map((queue) => ({ name: queue.name, members: [queue] })),
    ...(unlisted.length > 0 ? [{ name: others, members: unlisted }] : []),
  ];
  const age = ({ oldestEnqueuedAt: since }: Queue): number =>
    since === null ? 0 : Math.max(0, clock.now() - since.getTime()) / 1_000;
  const oldest = (members: readonly Queue[]): number =>
    members.reduce((max, queue) => Math.max(max, age(queue)), 0);
  return [
    {
      name: 'longshore_queue_jobs',
      help: 'Unfinished jobs by queue and state',
      values: groups.flatMap(({ name: queue, members }) =>
        unfinishedStates.map(
          (state) => [{ queue, state }, members.reduce((sum, { counts }) => sum + counts[state], 0)] as const,
        ),
      ),
    },
    {
      name: 'longshore_queue_oldest_seconds',
      help: 'How long the oldest ready job of a queue has been waiting; 0 if there is none',
      values: groups.map(({ name: queue, members }) => [{ queue }, oldest(members)]),
    },
    {
      name: 'longshore_queue_paused',
      help: '1 if the queue is paused, otherwise 0',
      values: groups.map(({ name: queue, members }) => [
        { queue },
        members.some(({ pausedAt }) => pausedAt !== null) ? 1 : 0,
      ]),
    },
  ];
};

const readRecurring: Reader = async ({ recurring, clock }) => {
  const due = (await recurring.list())
    .filter(({ pausedAt, overlap }) => pausedAt === null && overlap !== 'wait')
    .map(({ nextDueAt }) => nextDueAt?.getTime() ?? Infinity);
  return [
    {
      name: 'longshore_recurring_overdue_seconds',
      help: 'By how much the recurring job that is latest is overdue, except paused ones and those that wait for their previous job; 0 if none is',
      values: [[{}, Math.max(0, ...due.map((at) => (clock.now() - at) / 1_000))]],
    },
  ];
};

const readScheduled: Reader = async ({ jobs, clock }) => {
  const { jobs: next } = await jobs.listSorted({
    filter: { state: ['scheduled'] },
    order: [
      { by: 'runAt', descending: false },
      { by: 'id', descending: false },
    ],
    limit: 1,
    documents: false,
    maxBytes: 0,
  });
  const dueAt = next[0]?.runAt?.getTime() ?? Infinity;
  return [
    {
      name: 'longshore_scheduled_overdue_seconds',
      help: 'By how much the scheduled job that is latest is overdue; 0 if none is',
      values: [[{}, Math.max(0, (clock.now() - dueAt) / 1_000)]],
    },
  ];
};

const readInstallation: Reader = async ({ installation }) => [
  {
    name: 'longshore_paused',
    help: '1 if the installation is paused because it is a restored copy, otherwise 0',
    values: [[{}, (await installation.read()).pausedAt === null ? 0 : 1]],
  },
];

const readMigrations: Reader = async (storage) => {
  const version = await storage.migrationVersion?.();
  if (version === undefined) return [];
  return [
    {
      name: 'longshore_migration_version',
      help: 'Number of the newest migration that the database has',
      values: [[{}, version]],
    },
  ];
};

const readers: readonly Reader[] = [
  readJobs,
  readServers,
  readOrphans,
  readSetAside,
  readQueues,
  readRecurring,
  readScheduled,
  readInstallation,
  readMigrations,
];
