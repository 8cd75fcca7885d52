import type { Catalog } from '../definition/catalog.js';
import { nameInProse } from '../definition/naming.js';
import type { Child, Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import { hasSearchPath } from '../pipeline/route.js';
import type { ParameterObject, PathItem } from './document-types.js';
import { keyParameter, type LinkedItem, type OperationSubject, ownedName } from './links.js';
import {
  collectionOperations,
  itemOperations,
  listOperation,
  setOperation,
  specialOperation,
} from './operations.js';
import { pathParameter } from './parameters.js';
import { createSchemaName } from './schemas.js';

/** Returns the paths of all resources in a catalog, including child resources. */
export function catalogPaths(catalog: Catalog, secured: boolean): Readonly<Record<string, PathItem>> {
  const paths = [...catalog.roots.values()].flatMap((resource) =>
    resourcePaths(catalog, secured, resource, {
      path: '',
      owner: '',
      parents: [],
      parameters: [],
      parent: undefined,
      child: undefined,
    }),
  );
  return Object.fromEntries(paths);
}

interface Above {
  readonly path: string;
  readonly owner: string;
  readonly parents: readonly Resource[];
  readonly parameters: readonly ParameterObject[];
  /** The singular name of the parent resource; undefined for a top-level resource. */
  readonly parent: string | undefined;
  readonly child: Child | undefined;
}

function resourcePaths(
  catalog: Catalog,
  secured: boolean,
  resource: Resource,
  above: Above,
): readonly (readonly [string, PathItem])[] {
  const storage = catalog.storageOf(resource);
  const serves = (name: StorageFunction): boolean =>
    storage[name] !== undefined && (above.child?.serves?.has(name) ?? true);
  const parentParameters = above.parameters.map(({ name }) => name);
  const subject: OperationSubject = {
    resource,
    owner: above.owner,
    parents: above.parents,
    serves,
    parentParameters,
    setByPath: above.child?.by === undefined ? [] : [above.child.by],
    createSchema:
      above.child === undefined ? `${resource.singular} create` : createSchemaName(above.child, above.parent),
    created: undefined,
    isListed: (child) => catalog.storageOf(child).list !== undefined,
    reasonAgainst: (name) => above.child?.notAllowed.get(name) ?? resource.notAllowed.get(name),
    seeks: storage.seeks ?? false,
    findsExisting: storage.findsExisting ?? false,
    deletesAfterCommit: storage.deletesAfterCommit ?? false,
    secured,
  };
  const key = keyParameter(resource);
  const collection = `${above.path}/${resource.name}`;
  const item = `${collection}/{${key}}`;
  const keySchema = resource.item.properties?.[resource.key] ?? {};
  const parameters = [
    ...above.parameters,
    pathParameter(key, `The \`${resource.key}\` of the ${nameInProse(resource)}.`, keySchema),
  ];
  const below = {
    path: item,
    owner: ownedName(above.owner, resource.singular),
    parents: [...above.parents, resource],
    parameters,
    parent: resource.singular,
  };
  const isItemServed = (['get', 'replace', 'patch', 'delete', 'operations'] as const).some(serves);
  return [
    [
      collection,
      withParameters(
        above.parameters,
        collectionOperations({ ...subject, created: createdItem(catalog, subject) }),
      ),
    ] as const,
    ...[...resource.setOperations.values()]
      .filter(() => serves('setOperations'))
      .map(
        (one) =>
          [
            `${collection}/${one.verb}`,
            withParameters(above.parameters, { put: setOperation(subject, one) }),
          ] as const,
      ),
    ...searchPath(subject, collection, above.parameters),
    ...(isItemServed
      ? [
          [item, withParameters(parameters, itemOperations(subject))] as const,
          ...[...resource.operations.values()]
            .filter(() => serves('operations'))
            .map(
              (one) =>
                [
                  `${item}/${one.verb}`,
                  withParameters(parameters, { put: specialOperation(subject, one) }),
                ] as const,
            ),
          ...[...resource.children.values()].flatMap((child) =>
            resourcePaths(catalog, secured, child.resource, { ...below, child }),
          ),
        ]
      : []),
  ].filter(([, pathItem]) => Object.keys(pathItem).some((name) => name !== 'parameters'));
}

/**
 * Returns where items created by a POST on this collection are served. This is the collection itself or, if it serves
 * no single items, the top-level collection of the resource. Returns undefined if neither serves single items.
 */
function createdItem(catalog: Catalog, subject: OperationSubject): LinkedItem | undefined {
  const { resource } = subject;
  if (subject.serves('get')) return subject;
  const storage = catalog.storageOf(resource);
  if (catalog.roots.get(resource.name) !== resource || storage.get === undefined) return undefined;
  return { resource, owner: '', parentParameters: [], serves: (name) => storage[name] !== undefined };
}

function searchPath(
  subject: OperationSubject,
  collection: string,
  parameters: readonly ParameterObject[],
): readonly (readonly [string, PathItem])[] {
  const { resource, owner, serves } = subject;
  if (!hasSearchPath(resource) || !serves('list')) return [];
  const keyword = pathParameter('keyword', 'Text to search for.', {
    type: 'string',
    minLength: 1,
    maxLength: 1000,
  });
  const operation = listOperation(subject, `search${ownedName(owner, resource.name)}`, true);
  return [[`${collection}/search/{keyword}`, withParameters([...parameters, keyword], { get: operation })]];
}

function withParameters(parameters: readonly ParameterObject[], operations: PathItem): PathItem {
  return parameters.length === 0 ? operations : { parameters, ...operations };
}
