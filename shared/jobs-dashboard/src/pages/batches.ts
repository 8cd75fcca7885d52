import type { Batch, JobState } from '@longshore/jobs';
import { type BriefJob, endOf, isId } from '@longshore/jobs/storage';
import { findBatchStall, type FoundStall } from '../diagnosis/stall.js';
import { badRequest, notFound } from '../http/problem.js';
import { findJobs, type FoundJobs, isFirstSearch } from '../reading/job-search.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { graphRegion } from './dependency-graph.js';
import { jobLine, type JobLine, jobRow, withCauses } from './job-row.js';
import { readRows } from './list-page.js';

const ROWS = 50;

export async function batchesPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the id of a batch.`);
  return {
    title: 'Batches',
    section: 'batches',
    view: 'page',
    regions: [
      {
        name: 'batches',
        view: 'batches-list',
        everyMs: 5_000,
        load: async () => {
          const position = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.batches.list({ limit, ...position }),
          );
          return {
            batches: rows.map((batch) => ({ ...batch, end: endOf(batch) })),
            order: 'newest',
            first: after === null ? null : 'batches',
            next: isComplete ? null : `batches?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}

const MAX_JOBS = 20;
const notStalled: FoundStall = { stall: null, retry: null, partial: false };
const urgency = ['processing', 'enqueued', 'scheduled', 'awaiting', 'done', 'cancelled'] as const;

export async function batchPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, name } = await findBatch(params['batch'] ?? '', context);
  return {
    title: name ?? 'Batch',
    section: 'batches',
    view: 'page',
    kicker: { path: 'batches', text: 'Batches' },
    id,
    regions: [
      { name: 'batch', view: 'batch-state', everyMs: 2_000, load: () => loadBatch(id, context) },
      graphRegion(() => findBatch(id, context), context),
      { name: 'jobs', view: 'batch-jobs', everyMs: 5_000, load: () => loadJobsOfBatch(id, context) },
    ],
  };
}

async function loadBatch(id: string, context: PageContext): Promise<object> {
  const batch = await findBatch(id, context);
  const callback = batch.callbackId === null ? null : await context.reader.jobs.find(batch.callbackId);
  const { total, done, failed, cancelled } = batch;
  const unsuccessful = failed === 0 ? null : await findJobsOf(id, 'failed', context);
  const end = endOf(batch);
  const { stall, retry, partial } = end === null ? await findBatchStall(id, context) : notStalled;
  return {
    batch,
    error: unsuccessful?.jobs[0]?.error ?? null,
    end,
    stall,
    retry,
    partial: partial || unsuccessful?.partial === true,
    unfinished: total - done - failed - cancelled,
    callback: callback === null ? null : jobRow(callback),
  };
}

/** Loads up to `MAX_JOBS` jobs of a batch: failed ones first, then the newest others in the order of `urgency`. */
async function loadJobsOfBatch(id: string, context: PageContext): Promise<object> {
  const [failed, newest] = await Promise.all([
    findJobsOf(id, 'failed', context),
    findJobsOf(id, null, context),
  ]);
  const unfailed = urgency.flatMap((state) => newest.jobs.filter((job) => job.state === state));
  return {
    id,
    jobs: await withCauses([...failed.jobs, ...unfailed].slice(0, MAX_JOBS), context),
    partial: failed.partial || newest.partial,
    searching: isFirstSearch(failed) || isFirstSearch(newest),
    gaveUp: failed.gaveUp || newest.gaveUp,
  };
}

/** Finds the newest jobs of a batch in the given state, or in any state if `state` is `null`. */
function findJobsOf(id: string, state: JobState | null, context: PageContext): Promise<FoundJobs<JobLine>> {
  const filter = { batchId: [id], ...(state === null ? {} : { state: [state] }) };
  const query = { filter, limit: MAX_JOBS };
  const row = (job: BriefJob): JobLine => jobLine(job, context.redact);
  return findJobs({ key: JSON.stringify(['jobs of batch', id, state]), query, row }, context);
}

async function findBatch(id: string, { reader }: PageContext): Promise<Batch> {
  const batch = await reader.batches.find(id);
  if (batch !== null) return batch;
  throw notFound(
    'There is no such batch',
    `No batch has the id “${id}”. Batches are removed 30 days after they end.`,
  );
}
