import { shorten } from '@longshore/edge';
import type { Job, JobError, JobState } from '@longshore/jobs';
import { auditDetails } from '@longshore/jobs/operations';
import {
  type Attempt,
  type AuditEntry,
  editableStates,
  endOf,
  errorFingerprint,
  isFinished,
  type JobCount,
  type LogLine,
  parseExactly,
  redact,
  type Server,
  type Step,
} from '@longshore/jobs/storage';
import { noBlockingKeys, readKeyHolders } from '../diagnosis/blocking-keys.js';
import { explain, type ExplanationContext } from '../diagnosis/explanation.js';
import { findSkipCauses, skipReason } from '../diagnosis/skip-cause.js';
import { findBatchStall, findJobStall, type Stall } from '../diagnosis/stall.js';
import { type Stretch, timeline } from '../diagnosis/timeline.js';
import { awaitedWords, explainWait, pastWait } from '../diagnosis/waits.js';
import { type JsonText, jsonTokens } from '../format/json-tokens.js';
import { notFound } from '../http/problem.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { jobsPath } from '../search/filters.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { actionDone } from './audit.js';
import { graphRegion } from './dependency-graph.js';
import { stepsModel } from './job-steps.js';
import { logRegion, logRow, readLogEnd } from './job-log.js';
import { jobRow, whenOf, withCauses } from './job-row.js';
import { readRows } from './list-page.js';

const MAX_ATTEMPTS = 50;
const MAX_STRETCHES = 2 * MAX_ATTEMPTS + 1;
const MAX_DEPENDENTS = 10;
const MAX_ENQUEUED = 10;
const MAX_PARENTS = 20;
const MAX_ACTIONS = 20;
const MAX_LINE = 300;
const MAX_MESSAGE = 10_000;
const MAX_STACK = 50_000;

export async function jobPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const id = params['id'] ?? '';
  const job = await context.reader.jobs.find(id);
  if (job === null) throw noSuchJob(id);
  const everyMs = isFinished(job.state) ? 10_000 : 2_000;
  return {
    title: job.name,
    section: 'jobs',
    view: 'job',
    kicker: { path: 'jobs', text: 'Jobs' },
    id: job.id,
    regions: [
      { name: 'job', view: 'job-life', everyMs, load: () => loadLife(id, context) },
      logRegion(id, !isFinished(job.state), context),
      { name: 'data', view: 'job-data', everyMs, load: () => loadData(id, context) },
      graphRegion(() => find(id, context), context),
    ],
  };
}

async function loadLife(id: string, context: PageContext): Promise<object> {
  const { reader } = context;
  const job = await find(id, context);
  const [attempts, servers, queue, delays, lease, log, related, skipped, actions, history] =
    await Promise.all([
      reader.jobs.listAttempts(id),
      reader.servers.list(),
      reader.queues.find(job.queue),
      job.state === 'enqueued' ? readDelays(job, reader) : noDelays,
      job.state === 'processing' ? reader.leases.find({ id: job.id, queue: job.queue }) : null,
      job.state === 'processing' || job.attempt > 1 ? readLogEnd(id, reader) : null,
      readRelated(job, reader),
      countSkipped(job, reader),
      reader.audit.list({ target: id, limit: MAX_ACTIONS }),
      reader.steps.read({ id: job.id, queue: job.queue }),
    ]);
  const reason = skipReason(job.error);
  const [parent, causes] = await Promise.all([
    job.parentId === null ? null : findParent(job.parentId, context),
    findSkipCauses(new Map(reason === null ? [] : [[id, reason]]), reader),
  ]);
  const skipCause = causes.get(id) ?? null;
  const lastLineAt = job.state === 'processing' ? (log?.lines.at(-1)?.at ?? null) : null;
  const nowMs = context.now();
  return {
    job: factsOf(job),
    lease: lease === null ? null : { expiresAt: lease.expiresAt, locked: lease.locked },
    server: withoutHeartbeat(servers.find((server) => server.id === job.serverId)),
    explanation: explain(job, {
      attempts,
      servers,
      queue,
      ...delays,
      lease,
      parent,
      skipCause,
      lastLineAt,
      steps: history.steps,
      nowMs,
    }),
    wait: job.state === 'scheduled' ? waitOf(job, history.steps, nowMs) : null,
    steps: stepsModel(job, history, context.redact),
    isEditable: editableStates.includes(job.state),
    failure: failureOf(job),
    parent,
    skipCause,
    holders: await readKeyHolders(job, delays.blocking, reader),
    ...related,
    skipped,
    isSkipped: reason !== null && job.attempt === 0,
    stretches: timeline(job, attempts, history.steps).slice(-MAX_STRETCHES).map(stretchRow),
    actions: actions.toReversed().flatMap(jobAction),
    links: context.links.ofJob(job),
    attempts: attemptRows(job, { attempts, servers, log: log?.lines ?? [] }, context),
    /** Whether to link each attempt to its full log. True if there are several attempts and the page omits log lines. */
    hasFullLogs: attempts.length > 1 && (log?.leftOut ?? 0) > 0,
    leftOut: Math.max(0, attempts.length - MAX_ATTEMPTS),
  };
}

/** Reads the jobs that the page links to, apart from the first parent. */
async function readRelated(job: Job, reader: PageContext['reader']): Promise<object> {
  const [otherParents, dependents, enqueuer, enqueued] = await Promise.all([
    readOtherParents(job, reader),
    readRows(MAX_DEPENDENTS, (limit) => reader.jobs.listContinuations(job.id, { limit, documents: false })),
    readEnqueuer(job, reader),
    readEnqueued(job, reader),
  ]);
  return {
    otherParents,
    moreParents: job.parentIds.slice(MAX_PARENTS),
    dependents: await withCauses(dependents.rows.map(jobRow), { reader }),
    moreDependents: !dependents.isComplete,
    enqueuer,
    ...enqueued,
  };
}

/** Reads the parents after the first. A parent that has been removed has only its id. */
async function readOtherParents(
  { parentIds }: Job,
  { jobs, batches }: PageContext['reader'],
): Promise<object[]> {
  const ids = parentIds.slice(1, MAX_PARENTS);
  if (ids.length === 0) return [];
  const jobsById = new Map((await jobs.findMany(ids)).map((job) => [job.id, job]));
  return Promise.all(
    ids.map(async (id) => {
      const job = jobsById.get(id);
      if (job !== undefined) return { id, kind: 'job', name: job.name, state: job.state };
      const batch = await batches.find(id);
      if (batch === null) return { id, kind: null };
      return { id, kind: 'batch', name: batch.name ?? 'batch', state: endOf(batch) ?? 'processing' };
    }),
  );
}

/** Reads the job whose handler enqueued this one. One that has been removed has only its id. */
async function readEnqueuer({ enqueuedBy }: Job, { jobs }: PageContext['reader']): Promise<object | null> {
  if (enqueuedBy === null) return null;
  const job = await jobs.find(enqueuedBy);
  return job === null ? { id: enqueuedBy } : { id: job.id, name: job.name, state: job.state };
}

/**
 * Reads the first jobs that the job's handler has enqueued. Looks only at the jobs that follow it, because a job that has
 * enqueued none must not cost a search of all jobs.
 *
 * @returns `moreEnqueued`: whether there may be others
 */
async function readEnqueued(
  { id, attempt }: Job,
  { jobs }: PageContext['reader'],
): Promise<{ readonly enqueued: readonly object[]; readonly moreEnqueued: boolean }> {
  if (attempt === 0) return { enqueued: [], moreEnqueued: false };
  const { jobs: found, isComplete } = await jobs.listBrief({
    filter: { enqueuedBy: [id] },
    order: 'oldest',
    after: id,
    limit: MAX_ENQUEUED + 1,
    reach: 'near',
  });
  return {
    enqueued: found.slice(0, MAX_ENQUEUED).map(jobRow),
    moreEnqueued: !isComplete || found.length > MAX_ENQUEUED,
  };
}

type Delays = Pick<ExplanationContext, 'queues' | 'blocking' | 'typePause' | 'isCopyPaused'>;

const noDelays: Delays = {};

/**
 * Reads what might prevent an enqueued job from starting: jobs in other queues, its concurrency key, or a pause of its
 * type or of the whole installation.
 */
async function readDelays(
  { name, queue, readyAt, concurrencyKey }: Job,
  { queues, jobTypes, installation }: PageContext['reader'],
): Promise<Delays> {
  const [allQueues, blocking, paused, { pausedAt }] = await Promise.all([
    queues.list(),
    readyAt === null ? queues.listBlockingKeys(queue) : noBlockingKeys,
    jobTypes.listPaused(),
    installation.read(),
  ]);
  return {
    queues: allQueues,
    blocking: blocking.keys.find(({ key }) => key === concurrencyKey) ?? null,
    typePause: paused.find((type) => type.name === name) ?? null,
    isCopyPaused: pausedAt !== null,
  };
}

/**
 * Returns how many jobs were skipped because this job or its batch did not succeed. Returns `null` if none was skipped,
 * or if this job has neither failed nor been cancelled.
 */
async function countSkipped(
  { id, state, batchId }: Job,
  { jobs }: PageContext['reader'],
): Promise<JobCount | null> {
  if (state !== 'failed' && state !== 'cancelled') return null;
  const skipped = await jobs.countSkipped(batchId === null ? [id] : [id, batchId]);
  return skipped.count === 0 ? null : skipped;
}

async function loadData(id: string, context: PageContext): Promise<object> {
  const [{ state }, documents] = await Promise.all([
    find(id, context),
    context.reader.jobs.findDocuments(id),
  ]);
  if (documents === null) throw noSuchJob(id);
  const shown = (text: string): JsonText => jsonTokens(redact(parseExactly(text), context.redact));
  const result = state === 'done' ? shown(documents.result) : null;
  return { id, args: shown(documents.args), result, state };
}

async function find(id: string, { reader }: PageContext): Promise<Job> {
  const job = await reader.jobs.find(id);
  if (job === null) throw noSuchJob(id);
  return job;
}

function noSuchJob(id: string): Error {
  return notFound(
    'There is no such job',
    `No job has the id “${id}”. Finished jobs are removed after their retention time.`,
  );
}

function factsOf({ args: _args, result: _result, error: _error, ...facts }: Job): object {
  return facts;
}

/** Omits the server's heartbeat. It changes constantly, so refreshes could never be answered with 304. */
function withoutHeartbeat(server: Server | undefined): object | null {
  return server === undefined ? null : { id: server.id, host: server.host, pid: server.pid };
}

/** What the timeline shows of a job that is scheduled. */
function waitOf(job: Job, steps: readonly Step[], nowMs: number): object {
  const when = whenOf(job);
  return {
    isSuspended: explainWait(job, steps, nowMs) !== null,
    awaits: awaitedWords(job.awaits),
    when: when.what === 'created' ? null : when,
  };
}

function stretchRow({ kind, attempt, waits, from, until }: Stretch): object {
  return {
    kind,
    attempt: attempt?.attempt ?? null,
    outcome: attempt?.outcome ?? null,
    ...pastWait(waits),
    from,
    until,
  };
}

function jobAction({ action, who, at, filter, reason }: AuditEntry): object[] {
  return auditDetails(filter).outcome === 'done' ? [{ what: actionDone(action), who, at, reason }] : [];
}

/**
 * Returns the latest error as one line, with a link to the jobs that have the same error. Returns `null` if there is no
 * error, or if the job is running, done or cancelled.
 */
function failureOf({ name, state, error }: Job): object | null {
  if (error === null || !(state === 'failed' || state === 'scheduled' || state === 'enqueued')) return null;
  const terms = [
    { key: 'name', value: name },
    { key: 'fingerprint', value: errorFingerprint(error) },
  ] as const;
  const message = shorten(error.message.split('\n', 1)[0] ?? '', MAX_LINE, '…');
  return { name: error.name, message, alike: jobsPath({ state: null, terms }) };
}

/**
 * Returns the attempts with their log lines, newest first. Omits the lines of a single or running attempt, because the
 * log region shows them. If consecutive failures have the same error, only the newest failure includes it.
 */
function attemptRows(
  job: Job,
  {
    attempts,
    servers,
    log,
  }: {
    readonly attempts: readonly Attempt[];
    readonly servers: readonly Server[];
    readonly log: readonly LogLine[];
  },
  { redact: pattern, links }: PageContext,
): object[] {
  let latest: { attempt: number; error: JobError } | null = null;
  return attempts
    .toReversed()
    .slice(0, MAX_ATTEMPTS)
    .map((whole) => {
      const { error, ...attempt } = whole;
      const again = error !== null && latest !== null && isSame(error, latest.error);
      if (error !== null && !again) latest = { attempt: attempt.attempt, error };
      const server = servers.find(({ id }) => id === attempt.serverId);
      return {
        ...attempt,
        links: links.ofAttempt(job, whole),
        server:
          server === undefined
            ? `server ${attempt.serverId.slice(-8)}`
            : `${server.host}, process ${server.pid}`,
        error: error === null || again ? null : errorExcerpt(error),
        sameAs: again ? latest?.attempt : null,
        lines:
          attempts.length === 1 || attempt.outcome === 'processing'
            ? []
            : log.filter((line) => line.attempt === attempt.attempt).map((line) => logRow(line, pattern)),
      };
    });
}

function isSame(one: JobError, other: JobError): boolean {
  return one.name === other.name && one.message === other.message;
}

function errorExcerpt({ name, message, stack }: JobError): JobError {
  return {
    name,
    message: shorten(message, MAX_MESSAGE, '…'),
    stack: stack === null ? null : shorten(stack, MAX_STACK, '…'),
  };
}

interface Parent {
  readonly kind: 'job' | 'batch';
  readonly id: string;
  /** The name of the job's type or of the batch; `batch` for a batch without a name. */
  readonly name: string;
  readonly state: JobState;
  /** Why the parent is stalled; `null` if it is not stalled or the reason is unknown. */
  readonly stall: Stall | null;
}

/** Finds the job or batch with this id and, if it is stalled, the reason. Returns `null` if it has been removed. */
async function findParent(id: string, context: ReadingContext): Promise<Parent | null> {
  const { reader } = context;
  const job = await reader.jobs.find(id);
  if (job !== null) {
    const { name, state } = job;
    return { kind: 'job', id, name, state, stall: await findJobStall(job, context) };
  }
  const batch = await reader.batches.find(id);
  if (batch === null) return null;
  const state = endOf(batch) ?? 'processing';
  const batchStall = isFinished(state) ? null : await findBatchStall(id, context);
  return { kind: 'batch', id, name: batch.name ?? 'batch', state, stall: batchStall?.stall ?? null };
}
