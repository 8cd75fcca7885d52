import { overriding } from '@longshore/test-support';
import type { Batch, Job, JsonValue, RecurringJob } from '@longshore/jobs';
import {
  type Attempt,
  type BulkOperation,
  type HistoryBucket,
  type Incident,
  type Queue,
  type Server,
  type Step,
  type StepKind,
  Timing,
} from '@longshore/jobs/storage';
import type { DashboardStorage } from '../src/index.js';
import { setAside } from './situation.js';

/** Strings that would be dangerous if a page did not escape them. */
export const hostileTexts = [
  '<script>alert(1)</script>',
  '"><img src=x7 onerror=alert(1)>',
  "'><svg onload=alert(1)>",
  '</code></pre><x7>',
  '" autofocus onfocus="alert(1)',
  '&<x7 a=\u0000>\u2028\u202eexe',
  '<%= 7 * 7 %><x7>',
  '</title><x7>',
  '<!--<x7',
  '${alert(1)}<x7>{{7*7}}',
  '//example.com/"<x7>',
  'javascript:alert(1)//"<x7>',
  '\r\nSet-Cookie: a=b\r\n\r\n<x7>',
  '<x7>'.repeat(300),
  // Ends its own element for the algorithm that orders text, begins others, and turns the direction.
  '\u2069\u202e\u2067<x7>\u05d0\u2066',
  `<x7>${'n'.repeat(300)}`,
];

/** Wraps a reader so that `text` replaces all strings that come from jobs, servers or users. */
export function hostileReader(reader: DashboardStorage, text: string): DashboardStorage {
  const error = { name: text, message: text, stack: text };
  const args: JsonValue = { [text]: text, list: [text, { [text]: [text] }] };
  const hostileJob = (job: Job): Job => ({
    ...job,
    name: text,
    queue: text,
    args,
    result: args,
    error,
    tags: [text],
    correlate: text,
    awaits: [text],
    progress: { percent: 50, message: text },
    recurringJobId: text,
    idempotencyKey: text,
    traceId: text,
  });
  const at = new Date(0);
  const hostileStep = (kind: StepKind, name: string): Step => ({
    name,
    kind,
    state: 'done',
    position: 1,
    result: args,
    error,
    isRemembered: true,
    attempts: 2,
    until: at,
    signals: 2,
    childId: text,
    input: text,
    jobAttempt: 1,
    serverId: text,
    startedAt: at,
    finishedAt: at,
  });
  const hostileIncident = (incident: Incident): Incident => ({
    ...incident,
    key: text,
    subject: text,
    text,
    advice: text,
    link: text,
    acknowledgedAt: at,
    acknowledgedBy: text,
    acknowledgeReason: text,
    mutedUntil: new Date(Date.UTC(2999, 0)),
    mutedBy: text,
    muteReason: text,
  });
  const hostileBatch = (batch: Batch): Batch => ({ ...batch, name: text });
  const hostileBulk = (operation: BulkOperation): BulkOperation => ({
    ...operation,
    filter: { queue: [text], tag: [text], args: [{ path: [text], values: [text] }] },
    state: 'failed',
    error: text,
    requestedBy: text,
  });
  const hostileRecurring = (job: RecurringJob): RecurringJob => ({
    ...job,
    id: text,
    name: text,
    queue: text,
    args,
    application: text,
  });
  const hostileQueue = (queue: Queue): Queue => ({ ...queue, name: text });
  const hostileServer = (server: Server): Server => ({ ...server, host: text, queues: [text] });
  const hostileAttempt = (attempt: Attempt): Attempt => ({ ...attempt, error });
  return overriding(reader, {
    jobs: {
      find: async (id) => {
        const job = await reader.jobs.find(id);
        return job === null ? null : hostileJob(job);
      },
      findMany: async (ids) => (await reader.jobs.findMany(ids)).map(hostileJob),
      findDocuments: async (id) => {
        const documents = await reader.jobs.findDocuments(id);
        return documents === null ? null : { args: JSON.stringify(args), result: JSON.stringify(args) };
      },
      listLatestFailed: async ({ limit }) =>
        (await reader.jobs.listLatestFailed({ limit })).map((job) => ({ ...job, ...hostileJob(job) })),
      listBrief: async ({ filter: _filter, ...query }) => {
        const { jobs } = await reader.jobs.listBrief(query);
        return { jobs: jobs.map((job) => ({ ...job, ...hostileJob(job) })), isComplete: true };
      },
      count: () => reader.jobs.count(),
      countByState: () => reader.jobs.countByState(),
      listAttempts: async (id) => (await reader.jobs.listAttempts(id)).map(hostileAttempt),
      listContinuations: async (id) => (await reader.jobs.listContinuations(id)).map(hostileJob),
    },
    incidents: {
      list: async (query) => (await reader.incidents.list(query)).map(hostileIncident),
      find: async (id) => {
        const incident = await reader.incidents.find(id);
        return incident && hostileIncident(incident);
      },
      reserveCheck: async () => false,
      observe: async () => undefined,
    },
    steps: {
      read: async () => ({
        steps: [hostileStep('wait', text), hostileStep('job', `other ${text}`)],
        signals: [text, `early ${text}`].map((name) => ({ name, id: text, data: args, at, sentBy: text })),
      }),
    },
    reports: {
      listLogs: async (id, query) =>
        (await reader.reports.listLogs(id, query)).map((line) => ({
          ...line,
          message: text,
          fields: { [text]: text },
        })),
      listLatestLogs: async (jobs, limit) =>
        (await reader.reports.listLatestLogs(jobs, limit)).map((line) => ({ ...line, message: text })),
    },
    queues: {
      list: async () => [...(await reader.queues.list()), ...(await reader.queues.list()).map(hostileQueue)],
      find: async (name) =>
        (await reader.queues.find(name)) ?? (await reader.queues.list()).map(hostileQueue)[0] ?? null,
    },
    batches: {
      find: async (id) => {
        const batch = await reader.batches.find(id);
        return batch === null ? null : hostileBatch(batch);
      },
      list: async (query) => (await reader.batches.list(query)).map(hostileBatch),
    },
    recurring: {
      find: async (id) => {
        const job = await reader.recurring.find(id);
        return job === null ? null : hostileRecurring(job);
      },
      findArgs: async () => JSON.stringify(args),
      list: async () => (await reader.recurring.list()).map(hostileRecurring),
    },
    statistics: {
      throughput: (query) => reader.statistics.throughput(query),
      throughputByQueue: (query) => reader.statistics.throughputByQueue(query),
      listErrorGroups: async (query) => {
        const { groups, complete } = await reader.statistics.listErrorGroups(query);
        const hostile = { name: text, fingerprint: text, message: text };
        return { groups: groups.map((group) => ({ ...group, ...hostile })), complete };
      },
    },
    setAside: {
      list: async () => [setAside({ role: 'recurring', key: text, jobId: null, queue: text, error })],
    },
    bulk: {
      find: async (id) => {
        const operation = await reader.bulk.find(id);
        return operation === null ? null : hostileBulk(operation);
      },
      list: async (query) => (await reader.bulk.list(query)).map(hostileBulk),
      // Filters only by state. The other filters contain the hostile text, so no stored job would match.
      preview: ({ action, filter: { state } }) =>
        reader.bulk.preview({ action, filter: state === undefined ? {} : { state } }),
    },
    timings: {
      listNames: async (query) =>
        (await reader.timings.listNames(query)).map(({ timing }) => ({ name: text, timing })),
      readHistories: async () => {
        const { readAt, total } = await reader.timings.readHistories({ names: [] });
        return { readAt, total, byName: new Map([[text, [failingBucket(readAt)]]]) };
      },
    },
    jobTypes: {
      listPaused: async () => [
        { name: text, pausedAt: new Date(0), pausedBy: text, pauseReason: text, pausedUntil: null },
      ],
    },
    deployments: {
      list: async (span) => [
        { id: 'x', version: text, note: text, at: span?.until ?? new Date(0), source: 'api' as const },
      ],
      versionsOf: async (serverIds) => new Map(serverIds.map((id) => [id, text])),
    },
    warningRules: {
      list: async () => [
        {
          application: text,
          name: text,
          about: { jobName: text },
          failing: 0.5,
          slowMs: 1,
          waitingMs: 1,
          tell: [text],
          updatedAt: new Date(0),
        },
      ],
    },
    savedSearches: {
      list: async () => [{ name: text, query: `words=${text}`, savedBy: text, savedAt: new Date(0) }],
    },
    audit: {
      list: async (query) =>
        (await reader.audit.list(query)).map((entry) => ({
          ...entry,
          who: text,
          target: text,
          reason: text,
          filter: { state: text, terms: [{ key: text, value: text }] },
        })),
    },
    servers: {
      listLost: async () =>
        (await reader.servers.list()).map((server) => ({
          ...hostileServer(server),
          lostAt: server.heartbeatAt,
        })),
      list: async () => (await reader.servers.list()).map(hostileServer),
    },
  });
}

/** The current minute, in which 50 attempts failed. */
function failingBucket(now: Date): HistoryBucket {
  const timing = new Timing();
  timing.retried = 50;
  return { at: new Date(Math.floor(now.getTime() / 60_000) * 60_000), bucketMs: 60_000, timing };
}
