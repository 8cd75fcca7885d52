import type { RecurringJob } from '@longshore/jobs';
import { type AuditEntry, isId, jobStates, type Queue, type Server } from '@longshore/jobs/storage';
import { auditDetails } from '@longshore/jobs/operations';
import { auditFilterOf, isEntryId, selectionText, wantedIn } from '../pages/audit.js';
import { storedFilters } from '../search/filters.js';
import {
  exportedJson,
  type ExportedList,
  type ExportSource,
  positionIn,
  type Row,
  type RowPage,
} from './exported-list.js';
import { exportedJobs } from './job-rows.js';

const ROWS = 500;

/** All lists that can be exported, by file name without the extension. */
export const exportedLists: Readonly<Record<string, ExportedList>> = {
  jobs: exportedJobs,
  queues: {
    columns: [
      'name',
      ...jobStates,
      'oldestEnqueuedAt',
      'servers',
      'pausedAt',
      'pausedBy',
      'pauseReason',
      'pausedUntil',
      'concurrencyLimit',
      'rateLimit',
      'createdAt',
    ],
    read: whole(async ({ reader }) => (await reader.queues.list()).map(queueRow)),
  },
  recurring: {
    columns: [
      'id',
      'name',
      'queue',
      'cron',
      'timeZone',
      'every',
      'anchor',
      'nextDueAt',
      'lastDueAt',
      'lastJobId',
      'pausedAt',
      'pausedBy',
      'pauseReason',
      'pausedUntil',
      'misfire',
      'misfireLimit',
      'overlap',
      'maxBacklog',
      'priority',
      'maxAttempts',
      'timeoutMs',
      'tags',
      'concurrency',
      'unique',
      'version',
      'args',
      'application',
      'createdAt',
      'updatedAt',
    ],
    read: byCursor(isAnyId, async (after, _query, { reader, redact }) => {
      const page = { limit: ROWS, ...(after === null ? {} : { after }) };
      return (await reader.recurring.list(page)).map((job) => recurringRow(job, redact));
    }),
  },
  servers: {
    columns: [
      'id',
      'host',
      'pid',
      'state',
      'requested',
      'version',
      'queues',
      'queueWeights',
      'jobNames',
      'concurrency',
      'processing',
      'startedAt',
      'heartbeatAt',
      'timeoutMs',
      'clockAheadMs',
    ],
    read: whole(async ({ reader }) => (await reader.servers.list()).map(serverRow)),
  },
  batches: {
    columns: [
      'id',
      'name',
      'state',
      'total',
      'done',
      'failed',
      'cancelled',
      'percent',
      'callbackId',
      'callbackWhen',
      'createdAt',
      'finishedAt',
    ],
    read: byCursor(isId, async (after, _query, { reader }) =>
      (await reader.batches.list({ limit: ROWS, ...(after === null ? {} : { after }) })).map((batch) => ({
        ...batch,
      })),
    ),
  },
  audit: {
    columns: [
      'id',
      'at',
      'who',
      'unverified',
      'viaApi',
      'automatic',
      'address',
      'action',
      'target',
      'filter',
      'count',
      'reason',
      'outcome',
      'why',
      'values',
      'before',
    ],
    read: byCursor(isEntryId, async (after, query, { reader, redact, nowMs }) => {
      const list = {
        limit: ROWS,
        ...auditFilterOf(wantedIn(query), nowMs),
        ...(after === null ? {} : { after }),
      };
      return (await reader.audit.list(list)).map((entry) => auditRow(entry, redact));
    }),
  },
};

/** Reads a list that the storage returns in one piece. */
function whole(read: (source: ExportSource) => Promise<Row[]>): ExportedList['read'] {
  return async function* (_query, source) {
    yield { rows: await read(source), next: null };
  };
}

/** Reads a list page by page, with the id of the last row as the cursor. */
function byCursor(
  isPlace: (text: string) => boolean,
  read: (after: string | null, query: URLSearchParams, source: ExportSource) => Promise<Row[]>,
): ExportedList['read'] {
  return async function* (query, source): AsyncGenerator<RowPage> {
    let next = positionIn(query, isPlace);
    do {
      const rows = await read(next, query, source);
      const last = rows.at(-1)?.['id'];
      next = rows.length === ROWS && typeof last === 'string' ? last : null;
      yield { rows, next };
    } while (next !== null);
  };
}

/** Returns whether the text can be the id of a recurring job. */
function isAnyId(text: string): boolean {
  return text !== '';
}

function queueRow({ counts, rateLimit, inCode: _inCode, ...queue }: Queue): Row {
  return { ...queue, ...counts, rateLimit: rateLimit === null ? null : { ...rateLimit } };
}

function recurringRow({ args, tags, concurrency, unique, ...job }: RecurringJob, redact: RegExp): Row {
  return {
    ...job,
    tags: [...tags],
    concurrency: concurrency === null ? null : { ...concurrency },
    unique: unique === null ? null : { ...unique, states: [...unique.states] },
    args: exportedJson(args, redact),
  };
}

function serverRow(server: Server): Row {
  return { ...server };
}

function auditRow({ filter, ...entry }: AuditEntry, redact: RegExp): Row {
  const { values, before, counted, ...details } = auditDetails(filter);
  const filters = storedFilters(filter);
  return {
    ...entry,
    ...details,
    count: counted === 'not' ? null : entry.count,
    filter: filters === null ? null : selectionText(filters),
    values: exportedJson(values, redact),
    before: exportedJson(before, redact),
  };
}
