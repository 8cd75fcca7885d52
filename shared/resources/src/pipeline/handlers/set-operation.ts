import { resultOf } from '../../definition/storage.js';
import { apiError, ProblemList } from '../../errors/api-error.js';
import { parseFilterQuery } from '../../query/query-parser.js';
import { validatorFor } from '../../validation/validator.js';
import type { CheckedRequest, Execute } from './checked-request.js';
import { parentFilters } from './collection.js';
import { itemResponse } from './representation.js';

/** Serves `PUT {collection}/{verb}`, an operation on the items that the filters and `ids` select. */
export function operateOnSet(checked: CheckedRequest<'set-operation'>): Execute {
  const { resource, storage, operation } = checked.route;
  const selected = parseFilterQuery(resource, checked.request.query);
  const body = checked.body === undefined ? {} : checked.body;
  const problems = new ProblemList();
  problems.addAll(validatorFor(operation.body).check(body));
  problems.throwIfAny();
  const { ids, ...fields } = body as { readonly ids?: readonly string[] };
  if (ids === undefined && selected.length === 0)
    throw apiError(40003, `select ${resource.name} with the filters of the list, or with "ids" in the body`);
  const filters = [...selected, ...parentFilters(checked.context.parentFields)];
  const { respondAsync } = checked.preferences;
  return async (context) => {
    const perform = storage.setOperations?.[operation.verb];
    const answered = await resultOf(perform?.({ ids, filters }, fields, context, respondAsync));
    const answer = operation.answer();
    const key = encodeURIComponent(String(answered.item[answer.key]));
    const location = `${checked.apiUrl}/${answer.name}/${key}`;
    if (answered.isDone) return itemResponse(answer, answered.item, 200, { location });
    const applied = respondAsync ? { 'preference-applied': 'respond-async' } : {};
    return itemResponse(answer, answered.item, 202, { location, ...applied });
  };
}
