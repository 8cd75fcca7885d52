import type { Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { LinkObject } from './document-types.js';
import { camelCase, schemaName } from './schemas.js';
import type { Subject } from './wording.js';

type Links = Readonly<Record<string, LinkObject>>;

/** Returns the name of the path parameter for an item: `lineItemId` for a `line-item` with the key `id`. */
export function keyParameter({ singular, key }: Pick<Resource, 'singular' | 'key'>): string {
  return `${camelCase(singular)}${schemaName(key)}`;
}

/**
 * Joins `owner` and the name of a resource for use in operation ids. Words that end `owner` and begin the name appear
 * only once: `Store` and `store-customer` become `StoreCustomer`.
 *
 * @param owner the singular names of the parents, e.g. `CustomerOrder`
 */
export function ownedName(owner: string, words: string): string {
  const ownName = schemaName(words);
  const starts = [...ownName.matchAll(/[A-Z]/g)].map(({ index }) => index);
  const repeated = starts.findLast((end) => end > 0 && owner.endsWith(ownName.slice(0, end))) ?? 0;
  return owner + ownName.slice(repeated);
}

/** Where the API serves an item. */
export interface LinkedItem {
  readonly resource: Resource;
  /** Prefix in operation ids: the singular names of the parents, e.g. `CustomerOrder`. */
  readonly owner: string;
  /** The names of the path parameters for the parents. */
  readonly parentParameters: readonly string[];
  readonly serves: (name: StorageFunction) => boolean;
}

/** Where operations are served, and the settings that affect their descriptions. */
export interface OperationSubject extends Subject {
  /** Prefix in operation ids: the singular names of the parents, e.g. `CustomerOrder`. */
  readonly owner: string;
  readonly serves: (name: StorageFunction) => boolean;
  /** The names of the path parameters for the parents, outermost first. */
  readonly parentParameters: readonly string[];
  /** The fields that hold the id of the parent in the path; bodies can leave them out. */
  readonly setByPath: readonly string[];
  /** The name of the schema for the body of a POST. */
  readonly createSchema: string;
  /** Where items created by a POST are served; undefined if nowhere. */
  readonly created: LinkedItem | undefined;
  readonly isListed: (child: Resource) => boolean;
  /** Returns the reason why a call is not served; undefined if the definition gives none. */
  readonly reasonAgainst: (name: StorageFunction) => string | undefined;
  /** Whether collections can be paged by cursor. */
  readonly seeks: boolean;
  /** Whether a DELETE of a collection may go on after the answer. */
  readonly deletesAfterCommit: boolean;
  /** Whether the API needs credentials. */
  readonly secured: boolean;
}

const itemCalls = ['get', 'replace', 'patch', 'delete'] as const;

/** The first word of the operation id, by call. */
export const verbs = { get: 'get', replace: 'replace', patch: 'update', delete: 'delete' } as const;

/** Returns the links for a response that contains a new item. They lead to the operations on that item. */
export function itemLinks({ resource, owner, parentParameters, serves }: LinkedItem): Links {
  const name = ownedName(owner, resource.singular);
  const ids = [
    ...itemCalls.filter((call) => serves(call)).map((call) => verbs[call] + name),
    ...(serves('operations') ? [...resource.operations.keys()].map((verb) => camelCase(verb) + name) : []),
  ];
  const parameters = {
    ...ofRequest(parentParameters),
    [keyParameter(resource)]: `$response.body#/${resource.key}`,
  };
  return Object.fromEntries(ids.map((operationId) => [operationId, { operationId, parameters }]));
}

export function childLinks(
  { resource, owner, parentParameters }: LinkedItem,
  isListed: (child: Resource) => boolean,
): Links {
  const parameters = ofRequest([...parentParameters, keyParameter(resource)]);
  const ids = [...resource.children.values()]
    .filter(({ resource: child, serves }) => isListed(child) && (serves?.has('list') ?? true))
    .map(({ resource: child }) => `list${ownedName(ownedName(owner, resource.singular), child.name)}`);
  return Object.fromEntries(ids.map((operationId) => [operationId, { operationId, parameters }]));
}

function ofRequest(parameters: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(parameters.map((parameter) => [parameter, `$request.path.${parameter}`]));
}
