import { jobStates } from '@longshore/jobs/storage';
import { badRequest } from '../http/problem.js';
import { type Filters, filtersIn, isJobState, termError } from './filters.js';
import { hiddenTermError } from './hidden-terms.js';

/**
 * Parses the filters of the jobs page from its URL.
 *
 * @param redact matches argument keys whose values are redacted and cannot be searched
 * @throws {Problem} if a filter is invalid
 */
export function queryFilters(query: URLSearchParams, redact: RegExp): Filters {
  const { state, terms } = filtersIn(query);
  if (state !== null && !isJobState(state)) {
    throw badRequest(
      'There is no such state',
      `“${state}” is not a state. The states are ${jobStates.join(', ')}.`,
    );
  }
  const invalid = terms.map(termError).find((found) => found !== null) ?? hiddenTermError(terms, redact);
  if (invalid !== null) throw badRequest('Invalid filter', invalid);
  return { state, terms };
}
