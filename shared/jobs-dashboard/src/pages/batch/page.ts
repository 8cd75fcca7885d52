import type { Batch } from '@longshore/jobs';
import { type BriefJob, endOf } from '@longshore/jobs/storage';
import { notFound } from '../../http/problem.js';
import type { DashboardReader } from '../../reading/dashboard-reader.js';
import { findBatchStall, type FoundStall } from '../../diagnosis/stall-search.js';
import { jobLine, jobRow } from '../job-row.js';
import type { Page, PageContext, PageRequest } from '../page.js';

const ROWS = 20;
const goesOn: FoundStall = { stall: null, retry: null, partial: false };
const urgency = ['processing', 'enqueued', 'scheduled', 'awaiting', 'done', 'cancelled'] as const;

export async function batchPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, name } = await find(params['batch'] ?? '', context);
  return {
    title: name ?? 'Batch',
    section: 'batches',
    view: 'page',
    kicker: { path: 'batches', text: 'Batches' },
    id,
    regions: [
      { name: 'batch', view: 'batch-state', everyMs: 2_000, load: () => loadState(id, context) },
      { name: 'jobs', view: 'batch-jobs', everyMs: 5_000, load: () => loadJobs(id, context) },
    ],
  };
}

async function loadState(id: string, context: PageContext): Promise<object> {
  const batch = await find(id, context);
  const followUp = batch.followUpId === null ? null : await context.reader.jobs.find(batch.followUpId);
  const { total, done, failed, cancelled } = batch;
  const [latest] = failed === 0 ? [] : await listFailed(id, context.reader);
  const end = endOf(batch);
  const { stall, retry, partial } = end === null ? await findBatchStall(id, context) : goesOn;
  return {
    batch,
    error: latest === undefined ? null : jobRow(latest).error,
    end,
    stall,
    retry,
    partial,
    unfinished: total - done - failed - cancelled,
    followUp: followUp === null ? null : jobRow(followUp),
  };
}

/** Loads some of the jobs of a batch: failed ones first, the others in the order of `urgency`. */
async function loadJobs(id: string, { reader, redact }: PageContext): Promise<object> {
  const [failed, newest] = await Promise.all([
    listFailed(id, reader),
    reader.jobs.listBrief({ filter: { batchId: [id] }, limit: ROWS }),
  ]);
  const others = urgency.flatMap((state) => newest.jobs.filter((job) => job.state === state));
  const jobs = [...failed, ...others].slice(0, ROWS);
  return { id, jobs: jobs.map((job) => jobLine(job, redact)) };
}

async function listFailed(id: string, reader: DashboardReader): Promise<BriefJob[]> {
  const filter = { batchId: [id], state: ['failed'] } as const;
  return (await reader.jobs.listBrief({ filter, limit: ROWS })).jobs;
}

async function find(id: string, { reader }: PageContext): Promise<Batch> {
  const batch = await reader.batches.find(id);
  if (batch !== null) return batch;
  throw notFound(
    'There is no such batch',
    `No batch has the id “${id}”. Batches are removed 30 days after they end.`,
  );
}
