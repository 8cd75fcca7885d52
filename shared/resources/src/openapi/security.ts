import type { Catalog } from '../definition/catalog.js';
import { scopedCall, type ScopeOf } from '../pipeline/access/scope.js';
import { findRoute } from '../pipeline/request/route.js';
import { mapValues } from '../validation/map-values.js';
import type { OperationObject, PathItem } from './document-types.js';

/** OpenAPI security schemes by name. */
export type SecuritySchemes = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Security {
  readonly schemes: SecuritySchemes;
  readonly scopeOf: ScopeOf;
}

/** The default security scheme: bearer tokens in `Authorization`. */
export const bearer: SecuritySchemes = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token. Follows RFC 6750.' },
};

const methods = new Set(['get', 'post', 'put', 'patch', 'delete']);

/**
 * Adds the security schemes and the required scope to each operation. The scope appears in the description and in
 * `x-scope`.
 */
export function securedPaths(
  catalog: Catalog,
  { schemes, scopeOf }: Security,
  paths: Readonly<Record<string, PathItem>>,
): Readonly<Record<string, PathItem>> {
  const secured = (path: string, method: string, operation: OperationObject): OperationObject => {
    const route = findRoute(catalog, path.split('/').slice(1));
    const scope = scopeOf(scopedCall(route, method.toUpperCase()));
    const description = `${operation.description}\n\nRequires the scope \`${scope}\`.`;
    return { ...operation, description, 'x-scope': scope, security: requirements(schemes) };
  };
  return mapValues(paths, (item, path) =>
    mapValues(item, (member, name) =>
      methods.has(name) ? secured(path, name, member as OperationObject) : member,
    ),
  );
}

/** Returns one security requirement per scheme. A request has to satisfy only one of them. */
export function requirements(
  schemes: SecuritySchemes,
): readonly Readonly<Record<string, readonly never[]>>[] {
  return Object.keys(schemes).map((name) => ({ [name]: [] }));
}
