import type { AuditEntry, AuditListQuery } from '@longshore/jobs';
import { auditDetails, type Outcome } from '../actions/audit-details.js';
import { badRequest } from '../http/problem.js';
import type { Filters } from '../search/filters.js';
import { searchText } from '../search/search.js';
import { storedFilters } from '../search/stored-filters.js';
import type { Page, PageContext, PageRequest } from './page.js';

const ROWS = 50;

/** What each action is called once it is done; the audit keeps its path. */
const deeds: Readonly<Record<string, string>> = {
  'jobs/cancel': 'cancelled the job',
  'jobs/retry': 'retried the job',
  'jobs/run': 'made the job ready',
  'jobs/reschedule': 'rescheduled the job',
  'jobs/delete': 'deleted the job',
  'queues/pause': 'paused the queue',
  'queues/resume': 'resumed the queue',
  'queues/limit': 'set the limits of the queue',
  'recurring/trigger': 'enqueued a job of the recurring job',
  'recurring/pause': 'paused the recurring job',
  'recurring/resume': 'resumed the recurring job',
  'bulk-cancel': 'cancelled many jobs',
  'bulk-retry': 'retried many jobs',
  'bulk-run': 'made many jobs ready',
  'bulk-delete': 'deleted many jobs',
  'bulk/stop': 'stopped the action on many jobs',
  'servers/quiet': 'quieted the server',
  'servers/stop': 'stopped the server',
  'batches/cancel': 'cancelled the batch',
};

const outcomeWords: Readonly<Record<Outcome, string | null>> = {
  done: null,
  begun: 'begun: how it ended is not known',
  refused: 'refused: nothing was changed',
  'without effect': 'it was so already',
};

export async function auditPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !/^\d{1,18}$/.test(after))
    throw badRequest('There is no such place in the list', `“${after}” is no number of an entry.`);
  const wanted = wantedIn(query);
  return {
    title: 'Audit',
    section: 'audit',
    view: 'audit',
    regions: [
      {
        name: 'audit',
        view: 'audit-list',
        everyMs: 5_000,
        load: async () => {
          const place = after === null ? {} : { after };
          const found = await reader.audit.list({ limit: ROWS + 1, ...wanted, ...place });
          const entries = found.slice(0, ROWS);
          const last = found.length > ROWS ? entries.at(-1) : undefined;
          return {
            entries: entries.map(auditRow),
            order: 'newest',
            first: after === null ? null : auditPath(wanted),
            next: last === undefined ? null : auditPath({ ...wanted, after: last.id }),
          };
        },
      },
    ],
  };
}

function auditRow({ at, who, action, target, filter, count }: AuditEntry): object {
  const { outcome, ...details } = auditDetails(filter);
  const filters = storedFilters(filter);
  const selection = filters === null ? 'those that were marked' : selectionText(filters);
  const kept = target !== null && action !== 'jobs/delete';
  return {
    ...details,
    at,
    who,
    outcome: outcomeWords[outcome],
    count,
    deed: deeds[action] ?? action,
    what: action.startsWith('bulk-') ? selection : target,
    path: kept ? `${action.replace(/[-/].*/s, '')}/${encodeURIComponent(target)}` : null,
  };
}

function selectionText(filters: Filters): string {
  const state = filters.state === null ? '' : `state:${filters.state}`;
  return [state, searchText(filters)].filter(Boolean).join(' ') || 'all that match';
}

/** Which entries, as the URL says. */
function wantedIn(query: URLSearchParams): Omit<AuditListQuery, 'limit' | 'after'> {
  const given = ['who', 'action', 'target'].flatMap((name) => {
    const value = query.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

function auditPath(parameters: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(parameters).toString();
  return text === '' ? 'audit' : `audit?${text}`;
}
