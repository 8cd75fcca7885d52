import { ProblemList } from '../errors/api-error.js';
import { requireNoParameters } from '../query/collection-query.js';
import type { ApiResponse } from '../request/request.js';
import type { JsonSchema } from '../resource/json-schema.js';
import type { ItemRecord } from '../resource/resource.js';
import { WithJob } from '../resource/storage.js';
import { validatorFor } from '../validation/validator.js';
import type { Action, Call } from './call.js';
import { present, requirePossible } from './existence.js';
import { checkPrecondition } from './precondition.js';
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
  return async () => {
    requirePossible(resource, id);
    const isConditional = call.request.headers['if-match'] !== undefined;
    const check = (current: ItemRecord): void => {
      if (isConditional) checkPrecondition(resource, call.request, current);
    };
    // A storage that locks the item checks it again then; one that does not has only this.
    if (isConditional && storage.get !== undefined)
      check(present(resource, id, await storage.get(id, call.context)));
    const perform = storage.operations?.[operation.verb];
    const outcome = present(resource, id, await served(perform?.(id, body, call.context, check)));
    return outcome instanceof WithJob ? jobResponse(call, outcome) : itemResponse(resource, outcome, 200);
  };
}

function jobResponse(call: Call<'operation'>, { item, jobId }: WithJob<ItemRecord>): ApiResponse {
  const { resource, operation } = call.route;
  if (!operation.enqueues || !call.preferences.respondAsync) return itemResponse(resource, item, 200);
  const location = `${call.apiUrl}/jobs/${encodeURIComponent(jobId)}`;
  return itemResponse(resource, item, 202, { location, 'preference-applied': 'respond-async' });
}
