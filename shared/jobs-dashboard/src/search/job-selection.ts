import { parseTime } from '@longshore/edge';
import type { JsonValue } from '@longshore/jobs';
import {
  type BulkPreview,
  finishedStates,
  isId,
  isUnrestricted,
  type JobFilter,
} from '@longshore/jobs/storage';
import { badRequest, type Problem } from '../http/problem.js';
import {
  filterQuery,
  type Filters,
  filtersIn,
  hiddenTermError,
  isJobState,
  jobsPath,
  parametersOf,
  pinned,
  type Reading,
  termError,
} from './filters.js';

const MAX_IDS = 1_000;

/**
 * Parameters that do not select jobs. `action` is the chosen action. `selected` marks a form with checkboxes, so that
 * checking none is an error.
 */
const nonSelectionParameters = new Set(['action', 'selected']);

/** The jobs that a bulk action applies to, selected by id or by filter. */
export interface JobSelection {
  readonly filter: JobFilter;
  /** The selection as a query such as `state=failed&queue=mail`. Forms submit it in a single field. */
  readonly which: string;
  /** The selection as it is stored in audit entries. */
  readonly auditFilter: { readonly [member: string]: JsonValue };
  /** The path of the list that contains these jobs, relative to the dashboard. */
  readonly list: string;
}

/**
 * Parses the query of a confirmation page, or the form field that contains it. Rejects unknown conditions, because
 * ignoring them could select more jobs than intended.
 *
 * @throws {Problem} (400) if a condition is invalid, if no jobs are selected, or if the filter matches every job
 */
export function parseJobSelection(query: URLSearchParams, reading: Reading): JobSelection {
  const conditions = [...query].filter(([name]) => !nonSelectionParameters.has(name));
  const ids = conditions.filter(([name]) => name === 'id').map(([, id]) => id);
  if (ids.length > 0) return selectionOfIds(ids, conditions.length);
  if (query.has('selected'))
    throw badRequest('No jobs are selected', 'Go back, select some rows and try again.');
  const filters = pinned(filtersOf(conditions, reading.redact), reading.nowMs);
  const fields = parametersOf(filters);
  if (fields.length !== conditions.length) throw unclear('Some of the conditions are invalid.');
  const filter = filterQuery(filters, reading);
  if (isUnrestricted(filter)) throw unclear('The filter matches every job. Narrow the list first.');
  const { state, terms } = filters;
  const auditFilter = { state, terms: terms.map(({ key, value }) => ({ key, value })) };
  return { filter, which: new URLSearchParams(fields).toString(), auditFilter, list: jobsPath(filters) };
}

function selectionOfIds(ids: readonly string[], conditionCount: number): JobSelection {
  if (ids.length !== conditionCount) throw unclear('Select jobs or give conditions, not both.');
  if (ids.length > MAX_IDS || !ids.every(isId)) throw unclear('The selection has invalid ids, or too many.');
  return {
    filter: { id: ids },
    which: ids.map((id) => `id=${id}`).join('&'),
    auditFilter: { ids: [...ids] },
    list: 'jobs',
  };
}

function filtersOf(conditions: readonly [string, string][], redact: RegExp): Filters {
  const { state, terms } = filtersIn(conditions);
  if (state !== null && !isJobState(state)) throw unclear(`There is no state “${state}”.`);
  const invalid = terms.map(termError).find((message) => message !== null) ?? hiddenTermError(terms, redact);
  if (invalid !== null) throw unclear(invalid);
  return { state, terms };
}

function unclear(why: string): Problem {
  return badRequest('It is not clear which jobs to change', `${why} Nothing was changed.`);
}

/** Formats the preview on a confirmation page as the value of a form field. */
export function confirmedField({ count, asOf, oldestSearchedIds }: BulkPreview): string {
  return JSON.stringify({ count, asOf: asOf.toISOString(), oldestSearchedIds });
}

/**
 * Parses a field formatted by {@link confirmedField}. Rejects an invalid value, because the action could otherwise
 * change more jobs than the page showed.
 *
 * @throws {Problem} (400) if the value is missing or invalid
 */
export function parseConfirmed(text: string | null): BulkPreview {
  const { count, asOf, oldestSearchedIds } = objectIn(text);
  const time = typeof asOf === 'string' ? parseTime(asOf) : undefined;
  if (time === undefined) throw unconfirmed();
  return { count: countIn(count), asOf: time, oldestSearchedIds: idsIn(oldestSearchedIds) };
}

function countIn(value: unknown): BulkPreview['count'] {
  if (value === null) return null;
  const { count, exact } = membersOf(value);
  if (!Number.isSafeInteger(count) || typeof exact !== 'boolean') throw unconfirmed();
  return { count: count as number, exact };
}

function idsIn(value: unknown): BulkPreview['oldestSearchedIds'] {
  const ids = membersOf(value);
  const validIds = finishedStates.flatMap((state) => {
    const id = ids[state];
    return typeof id === 'string' && isId(id) ? [[state, id] as const] : [];
  });
  if (validIds.length !== Object.keys(ids).length) throw unconfirmed();
  return Object.fromEntries(validIds);
}

function objectIn(text: string | null): Readonly<Record<string, unknown>> {
  try {
    return membersOf(JSON.parse(text ?? ''));
  } catch {
    throw unconfirmed();
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unconfirmed();
  return value as Readonly<Record<string, unknown>>;
}

function unconfirmed(): Problem {
  return badRequest(
    'It is not clear which jobs to change',
    'The form does not identify the jobs that the page showed. Nothing was changed. Go back and confirm the action again.',
  );
}
