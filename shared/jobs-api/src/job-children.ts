import type { JobStorage } from '@longshore/jobs';
import {
  type Attempt,
  jobStates,
  logLevels,
  type LogLine,
  maxListedTransitions,
  type Transition,
  type TransitionReason,
} from '@longshore/jobs/storage';
import {
  type CollectionQuery,
  defineResource,
  maxPageBytes,
  type NotAllowed,
  type Page,
  pageOf,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { members, nullable, Time, toTime } from './fields.js';
import { includesDocuments } from './job-filters.js';
import { JobErrorItem, JobItem, toJobItem } from './job-item.js';

const AttemptItem = Type.Object({
  attempt: Type.Integer({ minimum: 1, description: 'Counts the attempts of the job from 1' }),
  outcome: Type.Enum(['processing', 'done', 'failed', 'cancelled', 'lost'], {
    description: 'How it ended; `lost` if its server died, `processing` while it runs',
  }),
  serverId: Type.String({ format: 'uuid', description: 'The server that ran it' }),
  startedAt: Time,
  finishedAt: nullable(Time),
  error: nullable(JobErrorItem),
});

/** Reasons why callers cannot change a collection that only servers write. */
export const writtenByServers: NotAllowed = {
  create: 'Servers record these while they run jobs.',
  replaceMany: 'A record of the past does not change.',
  deleteMany: 'Records are deleted together with their job.',
};

/** `/jobs/{id}/attempts`: the attempts of a job, oldest first. */
export function attemptsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'attempts',
    description: 'The attempts of a job: every time that a server ran it.',
    key: 'attempt',
    item: AttemptItem,
    serverSet: ['attempt', 'outcome', 'serverId', 'startedAt', 'finishedAt', 'error'],
    notAllowed: writtenByServers,
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const attempts = await storage.jobs.listAttempts(parents.at(-1)?.id ?? '');
        return pageOf(attempts.map(toAttemptItem), query);
      },
    },
  });
}

function toAttemptItem(attempt: Attempt): Static<typeof AttemptItem> {
  return { ...attempt, startedAt: attempt.startedAt.toISOString(), finishedAt: toTime(attempt.finishedAt) };
}

const reasons: Record<TransitionReason, true> = {
  created: true,
  due: true,
  'parents-ended': true,
  claimed: true,
  done: true,
  failed: true,
  cancelled: true,
  lost: true,
  released: true,
  snoozed: true,
  suspended: true,
  retried: true,
  run: true,
  rescheduled: true,
};

const TransitionItem = Type.Object({
  number: Type.Integer({
    minimum: 1,
    description: 'Rises with each transition of the job, starting at 1 and possibly with gaps',
  }),
  state: Type.Enum([...jobStates], { description: 'The new state of the job' }),
  reason: Type.Enum(Object.keys(reasons) as TransitionReason[], { description: 'Why the state changed' }),
  at: Type.String({ format: 'date-time', description: 'When the state changed' }),
  attempt: nullable(
    Type.Integer({ minimum: 1, description: 'The attempt that started or ended; null if none did' }),
  ),
  serverId: nullable(Type.String({ format: 'uuid', description: 'The server that ran the attempt' })),
  runAt: nullable(
    Type.String({ format: 'date-time', description: 'When the job is due, if it is now scheduled' }),
  ),
  error: nullable(
    Type.Object(JobErrorItem.properties, {
      description: 'The error of the attempt that ended; null if there is none',
    }),
  ),
});

/** `/jobs/{id}/transitions`: the creation of a job and its newest state changes, oldest first. */
export function transitionsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'transitions',
    description: `The state transitions of a job, each with its time and reason: its creation and the newest ${maxListedTransitions - 1} others.`,
    key: 'number',
    item: TransitionItem,
    serverSet: ['number', 'state', 'reason', 'at', 'attempt', 'serverId', 'runAt', 'error'],
    notAllowed: writtenByServers,
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const transitions = await storage.reports.listTransitions(parents.at(-1)?.id ?? '');
        return pageOf(transitions.map(toItem), query);
      },
    },
  });
}

function toItem({ at, runAt, ...rest }: Transition): Static<typeof TransitionItem> {
  return { ...rest, at: at.toISOString(), runAt: runAt?.toISOString() ?? null };
}

const LogItem = Type.Object({
  id: Type.String({
    maxLength: 20,
    description: 'The ID of the log line; later lines have higher IDs',
  }),
  attempt: Type.Integer({ minimum: 1, description: 'The attempt that logged the line' }),
  at: Type.String({
    format: 'date-time',
    description: 'When it was logged, by the clock of the server that ran the job',
  }),
  level: Type.Enum([...logLevels]),
  message: Type.String(),
  fields: nullable(members('LogData', 'Structured data logged with the message')),
});

type LogLineItem = Static<typeof LogItem>;

/** A search examines at most this many of the latest log lines. */
const maxSearched = 10_000;

/** `/jobs/{id}/logs`: the lines that a job's handler logged, oldest first. */
export function logsResource(storage: Pick<JobStorage, 'jobs' | 'reports'>): Resource {
  return defineResource({
    name: 'logs',
    singular: 'log-line',
    description: 'The lines that the handler of a job logged, oldest first.',
    item: LogItem,
    serverSet: ['id', 'attempt', 'at', 'level', 'message', 'fields'],
    filters: {
      attempt: {
        field: 'attempt',
        match: 'exact',
        single: true,
        description: 'Only lines of this attempt.',
      },
    },
    sort: [], // sorting by id is always allowed; no other field has an index, and a log can be long
    search: ['message', 'level'],
    notAllowed: writtenByServers,
    storage: {
      list: (query, { parents }) => {
        const log = new JobLog(storage, parents.at(-1)?.id ?? '', query);
        return query.search === undefined ? log.page() : log.search();
      },
    },
  });
}

/** Reads the log lines of a job that match a query. */
class JobLog {
  readonly #storage: Pick<JobStorage, 'reports'>;
  readonly #jobId: string;
  readonly #query: CollectionQuery;
  readonly #selected: { readonly attempt?: number };

  constructor(storage: Pick<JobStorage, 'reports'>, jobId: string, query: CollectionQuery) {
    this.#storage = storage;
    this.#jobId = jobId;
    this.#query = query;
    const [attempt] = query.filters.find(({ field }) => field === 'attempt')?.values ?? [];
    this.#selected = attempt === undefined ? {} : { attempt: Number(attempt) };
  }

  async page(): Promise<Page<LogLineItem>> {
    const { sort, limit, offset } = this.#query;
    const total = await this.#count();
    if (sort[0]?.direction !== 'desc') return { items: await this.#lines(offset, limit), total };
    const first = Math.max(0, total - offset - limit);
    return { items: (await this.#lines(first, Math.max(0, total - offset - first))).toReversed(), total };
  }

  async search(): Promise<Page<LogLineItem>> {
    const total = await this.#count();
    const first = Math.max(0, total - maxSearched);
    const lines = await this.#lines(first, maxSearched);
    if (this.#query.sort[0]?.direction === 'desc') lines.reverse();
    const page = pageOf(lines, { ...this.#query, sort: [] }); // sorted already; `pageOf` would sort ids as text
    return first === 0 ? page : { ...page, estimated: true, partial: true };
  }

  #count(): Promise<number> {
    return this.#storage.reports.countLogs(this.#jobId, this.#selected);
  }

  async #lines(offset: number, limit: number): Promise<LogLineItem[]> {
    const lines = await this.#storage.reports.listLogs(this.#jobId, { ...this.#selected, limit, offset });
    return lines.map(toLogItem);
  }
}

function toLogItem(line: LogLine): LogLineItem {
  return { ...line, at: line.at.toISOString() };
}

type Item = Static<typeof JobItem>;

/** Maximum number of dependents to list and count. */
const maxRead = 10_000;

/** `/jobs/{id}/continuations`: the jobs that depend or depended on a job, oldest first. */
export function continuationsResource(storage: Pick<JobStorage, 'jobs'>): Resource {
  return defineResource({
    name: 'continuations',
    description: 'The jobs that depend, or depended, on a job.',
    item: JobItem,
    serverSet: Object.keys(JobItem.properties) as (keyof typeof JobItem.properties)[],
    notAllowed: {
      create: 'A job names its parents when it is created: send `after` with POST /jobs.',
      replaceMany: 'Use PUT /jobs, which changes jobs by their ids.',
      deleteMany: 'Use DELETE /jobs?parentId={id}.',
    },
    storage: {
      seeks: true,
      list: async (query, { parents }) => {
        const parent = parents.at(-1)?.id ?? '';
        const jobs = await storage.jobs.listContinuations(parent, { limit: maxRead, documents: false });
        const page = pageOf(jobs.map(toJobItem), query);
        const isPartial = query.search !== undefined && jobs.length === maxRead;
        const listed = isPartial ? { ...page, estimated: true, partial: true } : page;
        if (page.items.length === 0 || !includesDocuments(query)) return listed;
        const { items, cut } = await loadFullItems(storage, page.items, query);
        return { ...listed, items, cut, more: cut || page.more === true };
      },
    },
  });
}

/**
 * Loads the arguments and results of a page's items. Leaves out items beyond the size limit: the last ones when paging
 * forward, the first ones when paging backward.
 */
async function loadFullItems(
  storage: Pick<JobStorage, 'jobs'>,
  items: readonly Item[],
  { seek }: CollectionQuery,
): Promise<{ items: Item[]; cut: boolean }> {
  const backwards = seek?.direction === 'before';
  const ids = items.map(({ id }) => id);
  if (backwards) ids.reverse();
  const listed = await findItems(storage, ids);
  const missing = ids.findIndex((id) => !listed.items.has(id));
  const isCut = listed.cut && missing >= 0;
  // Keeps at least one job on the page, so that paging always advances.
  const end = isCut ? Math.max(1, missing) : ids.length;
  const whole = isCut && missing === 0 ? (await findItems(storage, ids.slice(0, 1))).items : listed.items;
  const page = ids.slice(0, end).flatMap((id) => whole.get(id) ?? []);
  return { items: backwards ? page.toReversed() : page, cut: isCut };
}

async function findItems(
  storage: Pick<JobStorage, 'jobs'>,
  ids: readonly string[],
): Promise<{ items: ReadonlyMap<string, Item>; cut: boolean }> {
  const order = (ids[0] ?? '') <= (ids.at(-1) ?? '') ? 'oldest' : 'newest';
  const page = { filter: { id: ids }, order, limit: ids.length, maxBytes: maxPageBytes } as const;
  const { jobs, cut } = await storage.jobs.listPage(page);
  return { items: new Map(jobs.map((job) => [job.id, toJobItem(job)])), cut };
}
