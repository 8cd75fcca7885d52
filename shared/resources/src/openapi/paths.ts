import type { Catalog } from '../definition/catalog.js';
import { nameInProse } from '../definition/naming.js';
import type { Child, Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { ParameterObject, PathItem } from './document-types.js';
import {
  collectionOperations,
  itemOperations,
  listOperation,
  type OperationPlace,
  specialOperation,
} from './operations.js';
import { pathParameter } from './parameters.js';
import { camelCase, schemaName } from './schemas.js';

/** Returns the paths of a catalog, including children. */
export function catalogPaths(catalog: Catalog, secured: boolean): Readonly<Record<string, PathItem>> {
  const paths = [...catalog.roots.values()].flatMap((resource) =>
    resourcePaths(catalog, secured, resource, {
      path: '',
      owner: '',
      parents: [],
      parameters: [],
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
  const place: OperationPlace = {
    resource,
    owner: above.owner,
    parents: above.parents,
    serves,
    parentField: above.child?.by,
    reasonAgainst: (name) => above.child?.notAllowed.get(name) ?? resource.notAllowed.get(name),
    seeks: storage.seeks ?? false,
    findsExisting: storage.findsExisting ?? false,
    secured,
  };
  const key = `${camelCase(resource.singular)}${schemaName(resource.key)}`;
  const collection = `${above.path}/${resource.name}`;
  const item = `${collection}/{${key}}`;
  const keySchema = resource.item.properties?.[resource.key] ?? {};
  const parameters = [
    ...above.parameters,
    pathParameter(key, `The \`${resource.key}\` of the ${nameInProse(resource)}.`, keySchema),
  ];
  const below = {
    path: item,
    owner: above.owner + schemaName(resource.singular),
    parents: [...above.parents, resource],
    parameters,
  };
  const isItemServed = (['get', 'replace', 'patch', 'delete', 'operations'] as const).some(serves);
  return [
    [collection, withParameters(above.parameters, collectionOperations(place))] as const,
    ...searchPath(place, collection, above.parameters),
    ...(isItemServed
      ? [
          [item, withParameters(parameters, itemOperations(place))] as const,
          ...[...resource.operations.values()]
            .filter(() => serves('operations'))
            .map(
              (one) =>
                [
                  `${item}/${one.verb}`,
                  withParameters(parameters, { put: specialOperation(place, one) }),
                ] as const,
            ),
          ...[...resource.children.values()].flatMap((child) =>
            resourcePaths(catalog, secured, child.resource, { ...below, child }),
          ),
        ]
      : []),
  ].filter(([, pathItem]) => Object.keys(pathItem).some((name) => name !== 'parameters'));
}

function searchPath(
  place: OperationPlace,
  collection: string,
  parameters: readonly ParameterObject[],
): readonly (readonly [string, PathItem])[] {
  const { resource, owner, serves } = place;
  if (resource.search.length === 0 || !serves('list')) return [];
  const keyword = pathParameter('keyword', 'Text to search for.', {
    type: 'string',
    minLength: 1,
    maxLength: 1000,
  });
  const operation = listOperation(place, `search${owner}${schemaName(resource.name)}`, true);
  return [[`${collection}/search/{keyword}`, withParameters([...parameters, keyword], { get: operation })]];
}

function withParameters(parameters: readonly ParameterObject[], operations: PathItem): PathItem {
  return parameters.length === 0 ? operations : { parameters, ...operations };
}
