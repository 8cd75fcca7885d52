import { isDeepStrictEqual } from 'node:util';
import { compareTexts, parseTime } from '@longshore/edge';
import type { JsonValue } from '@longshore/jobs';
import {
  actionOf,
  type AuditDetails,
  auditDetails,
  type Kind,
  kinds,
  operations,
  type Outcome,
} from '@longshore/jobs/operations';
import {
  type AuditEntry,
  type AuditFilter,
  bulkActions,
  isId,
  pauseCopyAction,
} from '@longshore/jobs/storage';
import { bulkWords } from '../actions/bulk-words.js';
import { counted, formatNumber } from '../format/count.js';
import { argsLine } from '../format/json-tokens.js';
import { isObject, limitsLine } from '../format/limits-line.js';
import { dayIn } from '../format/time.js';
import { badRequest } from '../http/problem.js';
import { type Filters, storedFilters } from '../search/filters.js';
import { momentOf, zoneIn } from '../search/moment.js';
import { searchText } from '../search/search.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { readRows } from './list-page.js';

const ROWS = 50;

/** Maximum number of job ids to show in an entry. The page of the bulk action shows more. */
const FEW_IDS = 3;

const outcomeWords: Readonly<Record<Outcome, string | null>> = {
  done: null,
  refused: 'refused; nothing was changed',
  'without effect': 'no change needed',
};

export async function auditPage({ query }: PageRequest, { reader, redact, now }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isEntryId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the number of an entry.`);
  const wanted = wantedIn(query);
  const filter = auditFilterOf(wanted, now());
  return {
    title: 'Audit',
    section: 'audit',
    view: 'audit',
    data: { wanted, isFiltered: Object.keys(wanted).length > 0, actions: actionChoices },
    regions: [
      {
        name: 'audit',
        view: 'audit-list',
        everyMs: 5_000,
        load: async () => {
          const position = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.audit.list({ limit, ...filter, ...position }),
          );
          return {
            entries: rows.map((entry) => auditRow(entry, redact)),
            order: 'newest',
            isFiltered: Object.keys(wanted).length > 0,
            exported: new URLSearchParams(wanted).toString(),
            first: after === null ? null : auditPath(wanted),
            next: isComplete ? null : auditPath({ ...wanted, after: rows.at(-1)?.id ?? '' }),
          };
        },
      },
    ],
  };
}

/** Returns whether the text can be the id of an audit entry. */
export function isEntryId(text: string): boolean {
  return /^\d{1,18}$/.test(text);
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
  installations: false, // every page shows its state
  incidents: false, // the entries name warnings, each of which can have several incidents
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
  const { outcome, counted: counting, values, before, ...details } = auditDetails(filter);
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
      isBulk ? (outcome === 'done' ? jobsCounted(count, counting) : 'jobs') : thing,
    ]
      .filter(Boolean)
      .join(' '),
    what: isBulk ? selection : isLong ? target.slice(-8) : target,
    whole: isLong ? target : null,
    limits,
    ids: { few: ids.slice(0, FEW_IDS), more: ids.length - FEW_IDS, linked: action !== 'bulk/delete' },
    change: limits === null ? withTimes(changeLine(before, values, pattern)) : [],
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

function jobsCounted(count: number, counting: AuditDetails['counted']): string {
  if (counting === 'not') return 'jobs, not counted';
  return counting === 'exactly' ? counted(count, 'job') : `${formatNumber(count)}+ jobs`;
}

export function selectionText(filters: Filters): string {
  const state = filters.state === null ? '' : `state:${filters.state}`;
  return [state, searchText(filters)].filter(Boolean).join(' ') || 'all that match';
}

/** The filters of the audit, as an address has them. */
type Wanted = Partial<Record<'who' | 'action' | 'target' | 'since' | 'until' | 'zone', string>>;

/**
 * Returns the filters of the audit page in an address. Omits empty ones, and the time zone if there are no times.
 *
 * @throws {Problem} (400) if the time zone is unknown
 */
export function wantedIn(query: URLSearchParams): Wanted {
  const filters: Wanted = Object.fromEntries(
    ['who', 'action', 'target', 'since', 'until'].flatMap((name) => {
      const value = query.get(name);
      return value === null || value === '' ? [] : [[name, value] as const];
    }),
  );
  const hasTimes = filters.since !== undefined || filters.until !== undefined;
  return hasTimes ? { ...filters, zone: zoneIn(query) } : filters;
}

/**
 * Returns the conditions that the filters mean. `since` and `until` are dates, times or ages such as `2h`.
 *
 * @throws {Problem} (400) if a time is neither
 */
export function auditFilterOf({ since, until, zone = 'UTC', ...texts }: Wanted, nowMs: number): AuditFilter {
  const momentIn = (text: string): Date => {
    const moment = momentOf(text, nowMs, zone);
    if (moment !== null) return moment;
    throw badRequest(
      'That is no time',
      `“${text}” is not a time such as 2026-03-01T14:05, or 2h for two hours ago.`,
    );
  };
  return {
    ...texts,
    ...(since !== undefined && { from: momentIn(since) }),
    ...(until !== undefined && { until: momentIn(until) }),
  };
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
    const line = (json: JsonValue): string => argsLine({ [key]: json }, pattern);
    const previous = before[key];
    return previous === undefined
      ? line(value)
      : `${line(previous)} → ${line(value).slice(`${key}: `.length)}`;
  });
  return lines.join(', ') || argsLine(values, pattern);
}

type Words = readonly [done: string, thing: string];

/** Maps each action in the audit to its past tense and the kind of its target. */
const actionTexts: Readonly<Record<string, Words>> = {
  ...Object.fromEntries(
    operations.map((operation): [string, Words] => [
      actionOf(operation),
      [capitalized(operation.done), kinds[operation.on].noun],
    ]),
  ),
  'queues/limit-key': ['Limited', 'a key of queue'],
  [pauseCopyAction]: ['Paused', kinds.installations.noun],
  // The audit entry of a bulk action says only that the action was started. The action runs in the background and can
  // be stopped. Its page shows what it has changed.
  ...Object.fromEntries(
    bulkActions.map((action): [string, Words] => [
      `bulk/${action}`,
      [`Started ${bulkWords[action].doing.toLowerCase()}`, 'jobs'],
    ]),
  ),
};

/** All actions that the audit records, with their past tense, in the order of their names. */
const actionChoices = Object.entries(actionTexts)
  .map(([action, [done, thing]]) => ({ action, words: `${done} ${thing}` }))
  .toSorted((one, other) => compareTexts(one.words, other.words));

/** Returns the past tense of an action, such as `Retried`. Returns unknown actions unchanged. */
export function actionDone(action: string): string {
  return actionTexts[action]?.[0] ?? action;
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

/** Parses the ids of selected jobs that were stored as JSON; an empty list if the value does not contain ids. */
function storedIds(stored: JsonValue): string[] {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return [];
  const { ids } = stored;
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : [];
}
