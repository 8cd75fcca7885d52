import type { Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { OperationObject, ParameterObject, ResponseObject } from './document-types.js';
import { errorReference } from './error-responses.js';

/** Where an operation stands. */
export interface OperationPlace {
  readonly resource: Resource;
  /** Part of the operation ids: the singulars of the parents, e.g. `CustomerOrder`. */
  readonly owner: string;
  readonly serves: (name: StorageFunction) => boolean;
  /** The field that the path gives a value to, if the resource stands below another. */
  readonly placedBy: string | undefined;
  /** Collections are served by cursors too. */
  readonly seeks: boolean;
  /** A POST may find the item there already. */
  readonly findsExisting: boolean;
  /** The API asks for credentials. */
  readonly secured: boolean;
}

interface Parts {
  readonly description?: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly errors: readonly number[];
}

/** An operation with the errors that every one of them may answer with. */
export function operation(
  place: OperationPlace,
  operationId: string,
  summary: string,
  parts: Parts,
): OperationObject {
  const always = [403, 404, 406, 421, 429, 500, 503, ...(place.secured ? [401] : [])];
  const statuses = [...new Set([...parts.errors, ...always])].toSorted((one, other) => one - other);
  return {
    operationId,
    summary,
    description: parts.description ?? (place.resource.description || `${summary}.`),
    tags: [place.resource.name],
    ...(parts.parameters && parts.parameters.length > 0 && { parameters: parts.parameters }),
    ...(parts.requestBody && { requestBody: parts.requestBody }),
    responses: {
      ...parts.responses,
      ...Object.fromEntries(statuses.map((status) => [String(status), errorReference(status)])),
    },
  };
}
