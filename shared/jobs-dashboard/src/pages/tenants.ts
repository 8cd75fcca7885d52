import { compareTexts } from '@longshore/edge';
import type { JobState } from '@longshore/jobs';
import type { BriefJob, JobCount, JobFilter } from '@longshore/jobs/storage';
import { notFound } from '../http/problem.js';
import { type Dimension, jobsPath, type Term } from '../search/filters.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { dimensionOf } from './job-breakdown.js';

/** Maximum number of jobs of each state to examine, newest first. */
const EXAMINED = 1_000;
const ROWS = 50;
const HOUR_MS = 3_600_000;
/** How often the list is read again, for all viewers, in milliseconds. */
const FRESH_MS = 10_000;

const states = ['done', 'failed', 'enqueued', 'processing', 'scheduled', 'awaiting'] as const;
type CountedState = (typeof states)[number];

/** The jobs of a state that were examined. */
interface Sample {
  readonly jobs: readonly BriefJob[];
  /** `false` if there may be more. */
  readonly exact: boolean;
  /** Only jobs created at this time or later were counted; `null` if all were. */
  readonly since: Date | null;
  readonly finishedSince: Date | null;
}

interface Figure extends JobCount {
  /** The list of exactly these jobs, and those that were not examined if the figure is not exact. */
  readonly path: string;
}

interface Tenant {
  readonly name: string;
  readonly jobs: Readonly<Record<CountedState, readonly BriefJob[]>>;
  readonly finished: number;
  /** The share of failures among the jobs that finished; `null` if none did. */
  readonly failedShare: number | null;
  readonly blocked: number;
}

/** A tenant as the list shows it. */
interface TenantRow extends Omit<Tenant, 'jobs'> {
  readonly path: string;
  readonly figures: Readonly<Record<CountedState, Figure>>;
  /** How many jobs of the key may run at once, in different queues; empty if tenants are not keys. */
  readonly limits: readonly number[];
}

/** The values that the list can be sorted by. The highest value always comes first. */
const sorts = {
  finished: ({ finished }: Tenant) => finished,
  failed: ({ jobs }: Tenant) => jobs.failed.length,
  share: ({ failedShare }: Tenant) => failedShare ?? -1,
  enqueued: ({ jobs }: Tenant) => jobs.enqueued.length,
  blocked: ({ blocked }: Tenant) => blocked,
  processing: ({ jobs }: Tenant) => jobs.processing.length,
  scheduled: ({ jobs }: Tenant) => jobs.scheduled.length,
  awaiting: ({ jobs }: Tenant) => jobs.awaiting.length,
} as const;

type Sort = keyof typeof sorts;

/** Creates the list of tenants: of the tags, keys or arguments that the option `tenant` names. */
export async function tenantsPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const { tenant } = context;
  if (tenant === null)
    throw notFound(
      'There is no such page',
      'Set the option tenant (DASHBOARD_TENANT), for example to “key”.',
    );
  const wanted = query.get('sort') ?? 'finished';
  const sort: Sort = Object.hasOwn(sorts, wanted) ? (wanted as Sort) : 'finished';
  return {
    title: 'Tenants',
    section: 'tenants',
    view: 'page',
    regions: [
      {
        name: 'tenants',
        view: 'tenants',
        everyMs: FRESH_MS,
        load: () =>
          context.cache.readStale(
            JSON.stringify(['tenants', sort]),
            () => loadTenants(tenant, sort, context),
            () => FRESH_MS,
          ),
      },
    ],
  };
}

/**
 * Returns the property that identifies the tenant of a job.
 *
 * @param tenant `key`, `tag`, a tag prefix such as `tag:customer-`, or a path such as `args.storeId`
 * @throws {TypeError} if `tenant` is something else, or the values at the path are redacted
 */
export function tenantOf(tenant: string, redact: RegExp): Dimension {
  const [, prefix = ''] = /^tag:(.+)$/s.exec(tenant) ?? [];
  const isKnown = tenant === 'key' || tenant === 'tag' || tenant.startsWith('args.');
  const dimension = isKnown || prefix !== '' ? dimensionOf(prefix === '' ? tenant : 'tag', redact) : null;
  if (dimension === null)
    throw new TypeError(
      `tenant must be “key”, “tag”, a tag prefix such as “tag:customer-”, or the path of an argument that is not redacted, such as “args.storeId”, not “${tenant}”`,
    );
  if (prefix === '') return dimension;
  return { ...dimension, valuesOf: (job) => dimension.valuesOf(job).filter((tag) => tag.startsWith(prefix)) };
}

async function loadTenants(tenant: Dimension, sort: Sort, context: PageContext): Promise<object> {
  const finishedSince = new Date(context.now() - HOUR_MS);
  const read = async (state: JobState): Promise<Sample> => {
    const isFinished = state === 'done' || state === 'failed';
    return sampleOf(state, isFinished ? finishedSince : null, context);
  };
  const [done, failed, ...others] = await Promise.all(states.map(read));
  // Successes and failures are compared, so they are counted over the same time.
  const bounds = [done?.since, failed?.since].filter((since) => since instanceof Date);
  const since = bounds.length === 0 ? null : new Date(Math.max(...bounds.map((each) => each.getTime())));
  const samples = [done, failed].map((sample) => from(sample, since));
  const byState = Object.fromEntries(
    states.map((state, index) => [state, [...samples, ...others][index]]),
  ) as Record<CountedState, Sample>;
  const tenants = tenantsIn(tenant, byState).toSorted(
    (one, other) => sorts[sort](other) - sorts[sort](one) || compareTexts(one.name, other.name),
  );
  return {
    rows: tenants.slice(0, ROWS).map((each) => rowOf(each, tenant, byState)),
    more: Math.max(0, tenants.length - ROWS),
    sort,
    word: tenant.word,
    since: Object.fromEntries(states.map((state) => [state, byState[state].since])),
    hasLimits: tenant.key === 'key',
  };
}

/** Reads the newest jobs of a state. If there are more, only those of complete milliseconds are counted. */
async function sampleOf(
  state: JobState,
  finishedSince: Date | null,
  { reader }: PageContext,
): Promise<Sample> {
  const filter: JobFilter = { state: [state], ...(finishedSince && { finishedAfter: finishedSince }) };
  const query = { filter, order: 'newest', limit: EXAMINED + 1, reach: 'near' } as const;
  const { jobs, isComplete } = await reader.jobs.listBrief(query);
  if (isComplete && jobs.length <= EXAMINED) return { jobs, exact: true, since: null, finishedSince };
  const [newest, oldest] = [jobs.at(0), jobs.at(-1)].map((job) => job?.createdAt.getTime() ?? 0);
  // Jobs that were enqueued together were created at the same time, and there may be more of them than were examined.
  const exact = newest !== oldest;
  const since = new Date((oldest ?? 0) + Number(exact));
  return from({ jobs, exact, since: null, finishedSince }, since);
}

function from(sample: Sample | undefined, since: Date | null): Sample {
  const { jobs = [], exact = true, finishedSince = null } = sample ?? {};
  if (since === null) return { jobs, exact, since, finishedSince };
  return { jobs: jobs.filter(({ createdAt }) => createdAt >= since), exact, since, finishedSince };
}

function tenantsIn({ valuesOf }: Dimension, samples: Readonly<Record<CountedState, Sample>>): Tenant[] {
  const byName = new Map<string, Record<CountedState, BriefJob[]>>();
  for (const state of states)
    for (const job of samples[state].jobs)
      for (const name of new Set(valuesOf(job))) {
        let own = byName.get(name);
        if (own === undefined) {
          own = { done: [], failed: [], enqueued: [], processing: [], scheduled: [], awaiting: [] };
          byName.set(name, own);
        }
        own[state].push(job);
      }
  return [...byName].map(([name, jobs]) => {
    const finished = jobs.done.length + jobs.failed.length;
    return {
      name,
      jobs,
      finished,
      failedShare: finished === 0 ? null : jobs.failed.length / finished,
      blocked: jobs.enqueued.filter(({ readyAt }) => readyAt === null).length,
    };
  });
}

/** Adds what only the tenants on the page need: the links of 3,000 tenants would take about 20 ms. */
function rowOf(
  { jobs, ...tenant }: Tenant,
  { termOf }: Dimension,
  samples: Readonly<Record<CountedState, Sample>>,
): TenantRow {
  const term = termOf(tenant.name);
  const figure = (state: CountedState): Figure => ({
    count: jobs[state].length,
    exact: samples[state].exact || jobs[state].length === 0,
    path: jobsPath({ state, terms: [term, ...timesOf(samples[state])] }),
  });
  const limits = states
    .flatMap((state) => jobs[state])
    .flatMap(({ concurrencyKey, concurrencyLimit }) =>
      concurrencyKey === tenant.name ? (concurrencyLimit ?? []) : [],
    );
  return {
    ...tenant,
    path: jobsPath({ state: null, terms: [term] }),
    figures: Object.fromEntries(states.map((state) => [state, figure(state)])) as TenantRow['figures'],
    limits: [...new Set(limits)].toSorted((one, other) => one - other),
  };
}

function timesOf({ since, finishedSince }: Sample): Term[] {
  return [
    ...(since === null ? [] : [{ key: 'after', value: since.toISOString() } as const]),
    ...(finishedSince === null
      ? []
      : [{ key: 'finished-after', value: finishedSince.toISOString() } as const]),
  ];
}
