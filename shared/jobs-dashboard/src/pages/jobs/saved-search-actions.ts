import {
  maxSavedSearches,
  type SavedSearch,
  savedSearchBounds,
  type SaveSearchResult,
} from '@longshore/jobs/storage';
import type { ActionResult, Actions } from '../../actions/action.js';
import { invalidField, textField } from '../../actions/fields.js';
import type { Form } from '../../http/form.js';
import { conflict, notFound } from '../../http/problem.js';
import { jobsPath } from '../../search/filters.js';
import { savedPath } from './saved-searches.js';
import { queryFilters } from '../../search/query-filters.js';

export const savedSearchActions: Actions = {
  '/searches/save': {
    role: 'operator',
    flash: 'The search is saved.',
    intent: ({ form, redact }) => ({ target: nameIn(form), values: { search: searchIn(form, redact) } }),
    perform: ({ savedSearches }, { form, viewer, redact }, audit) => {
      const search = {
        name: nameIn(form),
        query: searchIn(form, redact),
        savedBy: viewer.name.slice(0, 200),
      };
      return savedSearches.save(search, { audit: audit((result) => afterSaving(search, result)) });
    },
  },
  '/searches/delete': {
    role: 'operator',
    flash: 'The saved search is deleted.',
    intent: ({ form }) => ({ target: nameIn(form) }),
    perform: ({ savedSearches }, { form }, audit) =>
      savedSearches.delete(nameIn(form), { audit: audit(afterDeleting) }),
  },
};

function nameIn(form: Form): string {
  const name = textField(form, 'name').replaceAll('\0', '');
  const { min, max } = savedSearchBounds.name;
  if (name.length >= min && name.length <= max) return name;
  throw invalidField('The name', `${min} to ${max} characters long`);
}

/**
 * Returns the filters of the submitted search as URL parameters.
 *
 * @throws {Problem} if a filter is invalid, or if the search has no filters or is too long
 */
function searchIn(form: Form, redact: RegExp): string {
  const query = jobsPath(queryFilters(new URLSearchParams(form.get('search') ?? ''), redact)).slice(
    'jobs?'.length,
  );
  const { min, max } = savedSearchBounds.query;
  if (query.length >= min && query.length <= max) return query;
  throw invalidField('The search', `narrower than all jobs, and at most ${max} characters long`);
}

function afterSaving({ query }: { query: string }, result: SaveSearchResult): ActionResult {
  if (result.outcome === 'saved')
    return { next: `jobs?${query}`, before: result.before && { search: result.before.query } };
  throw conflict(
    'There are too many saved searches',
    `At most ${maxSavedSearches} can be saved. Nothing was changed. Delete one first.`,
  );
}

function afterDeleting(search: SavedSearch | null): ActionResult {
  if (search === null)
    throw notFound('There is no such saved search', 'It has been deleted. Nothing was changed.');
  return { next: savedPath(search.query), before: { search: search.query } };
}
