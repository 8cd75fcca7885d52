import { parseTime } from '@longshore/edge';
import { type AuditEntry, isId } from '@longshore/jobs/storage';
import { type AuditDetails, auditDetails, type Kind, type Outcome } from '@longshore/jobs/operations';
import { actionTexts } from './action-texts.js';
import { limitsLine } from '../../format/limits-line.js';
import { dayIn } from '../../format/zoned-time.js';
import { counted, formatNumber } from '../../format/count.js';
import { badRequest } from '../../http/problem.js';
import type { Filters } from '../../search/filters.js';
import { searchText } from '../../search/search.js';
import { storedFilters, storedIds } from '../../search/stored-filters.js';
import { readRows } from '../list-page.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';
import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { argsLine } from '../../format/args-line.js';

const ROWS = 50;

/** Maximum number of job ids to show in an entry. The page of the bulk action shows more. */
const FEW_IDS = 3;

const outcomeWords: Readonly<Record<Outcome, string | null>> = {
  done: null,
  refused: 'refused; nothing was changed',
  'without effect': 'no change needed',
};

export async function auditPage({ query }: PageRequest, { reader, redact }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !/^\d{1,18}$/.test(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the number of an entry.`);
  const wanted = wantedIn(query);
  return {
    title: 'Audit',
    section: 'audit',
    view: 'page',
    regions: [
      {
        name: 'audit',
        view: 'audit-list',
        everyMs: 5_000,
        load: async () => {
          const place = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.audit.list({ limit, ...wanted, ...place }),
          );
          return {
            entries: rows.map((entry) => auditRow(entry, redact)),
            order: 'newest',
            exported: new URLSearchParams(wanted).toString(),
            first: after === null ? null : auditPath(wanted),
            next: isComplete ? null : auditPath({ ...wanted, after: rows.at(-1)?.id ?? '' }),
          };
        },
      },
    ],
  };
}

/** Whether the targets of a kind have a page of their own. A new kind does not compile without an answer. */
const hasPage: Readonly<Record<Kind, boolean>> = {
  jobs: true,
  queues: true,
  types: true,
  recurring: true,
  batches: true,
  servers: true,
  bulk: true,
  'set-aside': true,
  searches: false,
  deployments: false,
  keys: false,
};
const withPage: ReadonlySet<string> = new Set(
  Object.entries(hasPage).flatMap(([kind, has]) => (has ? kind : [])),
);

function auditRow(
  { id, at, who, action, target, filter, count, reason }: AuditEntry,
  pattern: RegExp,
): object {
  const { outcome, counted: known, values, before, ...details } = auditDetails(filter);
  const filters = storedFilters(filter);
  const ids = storedIds(filter);
  const selection = filters === null ? 'selected jobs' : selectionText(filters);
  const kept = target !== null && !action.endsWith('/delete') && withPage.has(action.replace(/\/.*/s, ''));
  const [done, thing] = actionTexts[action] ?? [action, ''];
  const limits = action === 'queues/limit' ? limitsLine(before, values) : null;
  const isBulk = action.startsWith('bulk/') && action !== 'bulk/stop';
  const isLong = !isBulk && target !== null && isId(target);
  return {
    ...details,
    id,
    at,
    // The day in UTC. The page's script regroups the entries by day in the viewer's time zone.
    day: dayIn('UTC', at),
    who,
    reason,
    outcome: outcomeWords[outcome],
    done: [
      details.automatic ? `${done} automatically:` : done,
      isBulk ? (outcome === 'done' ? jobsCounted(count, known) : 'jobs') : thing,
    ]
      .filter(Boolean)
      .join(' '),
    what: isBulk ? selection : isLong ? target.slice(-8) : target,
    whole: isLong ? target : null,
    limits,
    ids: { few: ids.slice(0, FEW_IDS), more: ids.length - FEW_IDS, linked: action !== 'bulk/delete' },
    given: limits === null ? withTimes(changeLine(before, values, pattern)) : [],
    path: kept ? pathOf(action, target) : null,
  };
}

/** Splits a line into text and times, so that the times can be shown in the viewer's time zone. */
function withTimes(line: string): (string | Date)[] {
  return line.split(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/).flatMap((part, index) => {
    if (index % 2 === 0) return part === '' ? [] : part;
    return parseTime(part) ?? `"${part}"`;
  });
}

function pathOf(action: string, target: string): string {
  if (action.startsWith('set-aside/')) return isId(target) ? `jobs/${target}` : 'set-aside';
  return `${action.replace(/\/.*/s, '')}/${encodeURIComponent(target)}`;
}

function jobsCounted(count: number, known: AuditDetails['counted']): string {
  if (known === 'not') return 'jobs, not counted';
  return known === 'exactly' ? counted(count, 'job') : `${formatNumber(count)}+ jobs`;
}

export function selectionText(filters: Filters): string {
  const state = filters.state === null ? '' : `state:${filters.state}`;
  return [state, searchText(filters)].filter(Boolean).join(' ') || 'all that match';
}

/** Parses the filters of the audit page: `who`, `action` and `target`. Omits empty ones. */
export function wantedIn(query: URLSearchParams): Partial<Record<'who' | 'action' | 'target', string>> {
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

/**
 * Formats a change of values as one line, including the previous values if known:
 * `at: "2026-03-02T08:00" → "2026-03-02T09:00"`. Omits unchanged values; if no value has changed, shows all.
 *
 * @param pattern matches keys whose values are redacted
 */
function changeLine(before: JsonValue, values: JsonValue, pattern: RegExp): string {
  if (!isObject(before) || !isObject(values)) return argsLine(values, pattern);
  const changed = Object.entries(values).filter(([key, value]) => !isDeepStrictEqual(before[key], value));
  const lines = changed.map(([key, value]) => {
    const line = (each: JsonValue): string => argsLine({ [key]: each }, pattern);
    return `${line(before[key] ?? null)} → ${line(value).slice(`${key}: `.length)}`;
  });
  return lines.join(', ') || argsLine(values, pattern);
}

function isObject(value: JsonValue): value is { [member: string]: JsonValue } {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
