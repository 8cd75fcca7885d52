import { ProblemList } from '../../errors/api-error.js';
import { requireNoParameters } from '../../query/collection-query.js';
import type { ApiResponse } from '../request/request.js';
import type { JsonSchema } from '../../validation/json-schema.js';
import type { ItemRecord } from '../../definition/resource.js';
import { WithJob } from '../../definition/storage.js';
import { validatorFor } from '../../validation/validator.js';
import type { Action, Call } from './checked-request.js';
import { present, requirePossible } from './item-lookup.js';
import { checkChange, isConditional, preconditionsOf } from './precondition.js';
import { itemResponse } from './representation.js';
import { served } from './served.js';

const emptyObject: JsonSchema = { type: 'object', properties: {}, additionalProperties: false };

/** PUT on `item/{verb}`: a special operation. */
export function operate(call: Call<'operation'>): Action {
  const { resource, storage, id, operation } = call.route;
  requireNoParameters(call.request.query);
  const body = call.body ?? {};
  const problems = new ProblemList();
  problems.addAll(validatorFor(operation.body ?? emptyObject).check(body));
  problems.throwIfAny();
  const conditions = preconditionsOf(call.request);
  const check = isConditional(conditions)
    ? (current: ItemRecord): void => checkChange(resource, conditions, current)
    : undefined;
  return async (context) => {
    requirePossible(resource, id);
    // For storages that do not look at the item under a lock; those that do check it again then.
    if (check !== undefined && storage.get !== undefined)
      check(present(resource, id, await storage.get(id, context)));
    const perform = storage.operations?.[operation.verb];
    const outcome = present(resource, id, await served(perform?.(id, body, context, check)));
    return outcome instanceof WithJob ? jobResponse(call, outcome) : itemResponse(resource, outcome, 200);
  };
}

function jobResponse(call: Call<'operation'>, { item, jobId }: WithJob<ItemRecord>): ApiResponse {
  const { resource, operation } = call.route;
  if (!operation.enqueues || !call.preferences.respondAsync) return itemResponse(resource, item, 200);
  const location = `${call.apiUrl}/jobs/${encodeURIComponent(jobId)}`;
  return itemResponse(resource, item, 202, { location, 'preference-applied': 'respond-async' });
}
