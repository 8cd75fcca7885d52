import type { Resource } from '../../definition/resource.js';
import { Outcome, resultOf } from '../../definition/storage.js';
import { apiError, ProblemList } from '../../errors/api-error.js';
import type { Filter } from '../../query/filter.js';
import { parseFilterQuery, requireNoParameters } from '../../query/query-parser.js';
import type { ItemRecord, JsonSchema } from '../../validation/json-schema.js';
import { validatorFor } from '../../validation/validator.js';
import type { ApiResponse } from '../request.js';
import type { CheckedRequest, Execute } from './checked-request.js';
import { parentFilters } from './collection.js';
import { requireFound, requirePossibleId } from './item-lookup.js';
import {
  checkConditions,
  isConditional,
  itemResponse,
  preconditionsOf,
  represent,
} from './representation.js';

const emptyObject: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** Serves `PUT {item}/{verb}`, a special operation. */
export function operate(checked: CheckedRequest<'operation'>): Execute {
  const { resource, storage, id, operation } = checked.route;
  requireNoParameters(checked.request.query);
  const body = checked.body === undefined ? {} : checked.body;
  const problems = new ProblemList();
  problems.addAll(validatorFor(operation.body ?? emptyObject).check(body));
  problems.throwIfAny();
  const conditions = preconditionsOf(checked.request);
  const check = isConditional(conditions)
    ? (current: ItemRecord): void => checkConditions(resource, conditions, current)
    : undefined;
  return async (context) => {
    requirePossibleId(resource, id);
    // Checks the conditions here in case the storage ignores `check`. A storage that uses `check` checks them again
    // while the item is locked.
    if (check !== undefined && storage.get !== undefined)
      check(requireFound(resource, id, await storage.get(id, context)));
    const perform = storage.operations?.[operation.verb];
    const outcome = requireFound(resource, id, await resultOf(perform?.(id, body, context, check)));
    return outcome instanceof Outcome
      ? outcomeResponse(checked, outcome)
      : itemResponse(resource, outcome, 200);
  };
}

function outcomeResponse(
  checked: CheckedRequest<'operation'>,
  { item, jobId, isPending, changed }: Outcome<ItemRecord>,
): ApiResponse {
  const { resource, operation } = checked.route;
  const counted: Record<string, string> = changed === undefined ? {} : { 'x-total-count': String(changed) };
  if (isPending && operation.pending !== undefined) return itemResponse(resource, item, 202, counted);
  if (jobId === undefined || !operation.enqueues || !checked.preferences.respondAsync)
    return itemResponse(resource, item, 200, counted);
  const location = `${checked.apiUrl}/jobs/${encodeURIComponent(jobId)}`;
  return itemResponse(resource, item, 202, { ...counted, location, 'preference-applied': 'respond-async' });
}

/** Serves `PUT {collection}/{verb}`, an operation on the items that the request selects. */
export function operateOnSet(checked: CheckedRequest<'set-operation'>): Execute {
  const { resource, storage, operation } = checked.route;
  const { selectedBy } = operation;
  if (selectedBy !== undefined) requireNoParameters(checked.request.query);
  const queried = parseFilterQuery(resource, checked.request.query);
  const body = checked.body === undefined ? {} : checked.body;
  const problems = new ProblemList();
  problems.addAll(validatorFor(operation.body).check(body));
  problems.throwIfAny();
  const { ids, ...fields } = body as { readonly ids?: readonly string[] };
  const selected = selectedBy === undefined ? queried : [filterBy(resource, selectedBy, fields)];
  if (ids === undefined && selected.length === 0)
    throw apiError(40003, `select ${resource.name} with the filters of the list, or with "ids" in the body`);
  const filters = [...selected, ...parentFilters(checked.context.parentFields)];
  const { respondAsync } = checked.preferences;
  return async (context) => {
    const perform = storage.setOperations?.[operation.verb];
    const answered = await resultOf(perform?.({ ids, filters }, fields, context, respondAsync));
    if (!('item' in answered))
      return { status: 200, headers: {}, body: answered.map((item) => represent(resource, item)) };
    const answer = operation.answer?.() ?? resource;
    const key = encodeURIComponent(String(answered.item[answer.key]));
    const location = `${checked.apiUrl}/${answer.name}/${key}`;
    if (answered.isDone) return itemResponse(answer, answered.item, 200, { location });
    const applied = respondAsync ? { 'preference-applied': 'respond-async' } : {};
    return itemResponse(answer, answered.item, 202, { location, ...applied });
  };
}

/** Returns the filter whose value is a field of the body. */
function filterBy(resource: Resource, parameter: string, fields: ItemRecord): Filter {
  const { field = parameter, match = 'exact' } = resource.filters.get(parameter) ?? {};
  return { parameter, field, match, path: [], values: [fields[parameter] as string] };
}
