import { type BulkAction, isId, type JobFilter, type JsonValue } from '@longshore/jobs';
import { notFound, Problem } from '../http/problem.js';
import { complaintOf, filterQuery, filtersIn, isJobState } from '../search/filters.js';
import type { Action, Actions } from './action.js';
import { allFields } from './fields.js';

/** Each starts an operation on the jobs that the form names by their ids, or else on all that match its filters. */
export const bulkActions: Actions = {
  '/bulk-cancel': startBulk('cancel', 'operator'),
  '/bulk-retry': startBulk('retry', 'operator'),
  '/bulk-run': startBulk('run', 'operator'),
  '/bulk-delete': startBulk('delete', 'admin'),
  '/bulk/:target/stop': {
    role: 'operator',
    perform: async ({ bulk }, { target }) => {
      const operation = await bulk.cancel(target);
      if (operation === null) throw notFound('There is no such operation', 'Nothing was done.');
      return { next: `bulk/${operation.id}` };
    },
  },
};

function startBulk(action: BulkAction, role: Action['role']): Action {
  return {
    role,
    perform: async ({ bulk }, { form, viewer }) => {
      const { filter, told } = selectionIn(allFields(form));
      const requestedBy = viewer.name.slice(0, 200);
      const { id, matched } = await bulk.start({ action, filter, requestedBy });
      return { next: `bulk/${id}`, target: id, count: matched?.count ?? 0, filter: told };
    },
  };
}

/** Which jobs, for the storage and for the audit. */
function selectionIn(fields: readonly [string, string][]): { filter: JobFilter; told: JsonValue } {
  const ids = fields.filter(([name]) => name === 'id').map(([, id]) => id);
  if (ids.length > 0) {
    if (!ids.every(isId)) throw unclear('What was selected are no ids of jobs.');
    return { filter: { id: ids }, told: { ids } };
  }
  const { state, terms } = filtersIn(fields);
  if (state !== null && !isJobState(state)) throw unclear(`There is no state “${state}”.`);
  const complaint = terms.map(complaintOf).find((found) => found !== null);
  if (complaint !== undefined) throw unclear(complaint);
  const told = { state, terms: terms.map(({ key, value }) => ({ key, value })) };
  return { filter: filterQuery({ state, terms }, 0), told };
}

function unclear(why: string): Problem {
  return new Problem({
    status: 422,
    title: 'It is not clear which jobs are meant',
    text: `${why} Nothing was done.`,
  });
}
