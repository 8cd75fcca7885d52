import { isId, isUnrestricted, type JobFilter, type JsonValue } from '@longshore/jobs';
import { badRequest, type Problem } from '../http/problem.js';
import {
  termError,
  filterQuery,
  type Filters,
  filtersIn,
  isJobState,
  jobsPath,
  parametersOf,
  pinned,
} from './filters.js';
import { hiddenTermError } from './hidden-terms.js';

const MAX_IDS = 1_000;

/** What stands beside the selection in the URL of a confirmation. */
const others = new Set(['action', 'selected']);

/** Which jobs an action on many is for: some by their ids, or all that match. */
export interface JobSelection {
  readonly filter: JobFilter;
  /** The same as a query, `state=failed&queue=mail`: one field of a form, which browsers send on as it is. */
  readonly which: string;
  /** For the audit. */
  readonly auditFilter: { readonly [member: string]: JsonValue };
  /** The list of them, inside the dashboard. */
  readonly list: string;
}

export interface Reading {
  /** What times like “2h” count from. */
  readonly nowMs: number;
  /** Arguments under keys that match cannot be asked for. */
  readonly redact: RegExp;
}

/**
 * Understands the query of a confirmation page, and what its form sends on of that. Nothing is passed over: one
 * condition less, and the action would reach more jobs than somebody wanted.
 *
 * @throws {Problem} 400 if it is not clear which jobs are meant, or all jobs would be
 */
export function parseJobSelection(query: URLSearchParams, { nowMs, redact }: Reading): JobSelection {
  const given = [...query].filter(([name]) => !others.has(name));
  const ids = given.filter(([name]) => name === 'id').map(([, id]) => id);
  if (ids.length > 0) return selectionOfIds(ids, given.length);
  if (query.has('selected'))
    throw badRequest('No job is selected', 'Go back, select some of the rows, and try again.');
  const filters = pinned(filtersOf(given, redact), nowMs);
  const fields = parametersOf(filters);
  if (fields.length !== given.length) throw unclear('Some of the conditions cannot be understood.');
  const filter = filterQuery(filters, nowMs);
  if (isUnrestricted(filter)) throw unclear('It would be every job there is: narrow the list first.');
  const { state, terms } = filters;
  const auditFilter = { state, terms: terms.map(({ key, value }) => ({ key, value })) };
  return { filter, which: new URLSearchParams(fields).toString(), auditFilter, list: jobsPath(filters) };
}

function selectionOfIds(ids: readonly string[], given: number): JobSelection {
  if (ids.length !== given)
    throw unclear('Either jobs are selected, or they are those that match conditions.');
  if (ids.length > MAX_IDS || !ids.every(isId))
    throw unclear('What was selected are no ids of jobs, or too many.');
  return {
    filter: { id: ids },
    which: ids.map((id) => `id=${id}`).join('&'),
    auditFilter: { ids: [...ids] },
    list: 'jobs',
  };
}

function filtersOf(given: readonly [string, string][], redact: RegExp): Filters {
  const { state, terms } = filtersIn(given);
  if (state !== null && !isJobState(state)) throw unclear(`There is no state “${state}”.`);
  const invalid = terms.map(termError).find((found) => found !== null) ?? hiddenTermError(terms, redact);
  if (invalid !== null) throw unclear(invalid);
  return { state, terms };
}

function unclear(why: string): Problem {
  return badRequest('It is not clear which jobs are meant', `${why} Nothing was done.`);
}
