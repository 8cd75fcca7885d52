import type { Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { OperationObject, ParameterObject, ResponseObject } from './document-types.js';
import { errorReference } from './error-responses.js';

/** The context of an operation. */
export interface OperationPlace {
  readonly resource: Resource;
  /** Prefix in operation ids: the singulars of the parents, e.g. `CustomerOrder`. */
  readonly owner: string;
  readonly serves: (name: StorageFunction) => boolean;
  /** The field that the path prescribes, if the resource is below another. */
  readonly parentField: string | undefined;
  /** Whether collections can be paged by cursor. */
  readonly seeks: boolean;
  /** Whether a POST may return an existing item. */
  readonly findsExisting: boolean;
  /** Whether the API needs credentials. */
  readonly secured: boolean;
}

interface Parts {
  readonly description?: string;
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly errors: readonly number[];
}

/** Describes an operation, including the errors that any operation may return. */
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
