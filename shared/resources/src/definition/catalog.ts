import type { Platform } from './context.js';
import { DefinitionError } from './naming.js';
import type { Resource } from './resource.js';
import type { AnyStorage } from './storage.js';

export interface Catalog {
  /** The top-level resources by name. */
  readonly roots: ReadonlyMap<string, Resource>;
  readonly storageOf: (resource: Resource) => AnyStorage;
}

/**
 * Creates the storage of each resource, including children.
 * @throws {DefinitionError} if two top-level resources share a name, two resources share a singular, or a storage lacks
 *   the platform that it needs
 */
export function createCatalog(resources: readonly Resource[], platform: Platform | undefined): Catalog {
  const roots = new Map<string, Resource>();
  const storages = new Map<Resource, AnyStorage>();
  const add = (resource: Resource): void => {
    if (storages.has(resource)) return;
    for (const other of storages.keys()) requireOwnSingular(resource, other);
    storages.set(resource, resource.storage.create(resource, platform));
    for (const child of resource.children.values()) add(child.resource);
  };
  for (const resource of resources) {
    if (roots.has(resource.name)) throw new DefinitionError(`two resources are named "${resource.name}"`);
    roots.set(resource.name, resource);
    add(resource);
  }
  const storageOf = (resource: Resource): AnyStorage => {
    const storage = storages.get(resource);
    if (storage === undefined) throw new Error(`Resource "${resource.name}" is not in the catalog`);
    return storage;
  };
  return { roots, storageOf };
}

/**
 * Checks that two resources have different singulars, because the OpenAPI document uses them in the names of schemas
 * and operations.
 * @throws {DefinitionError} if the singulars are equal
 */
function requireOwnSingular(one: Resource, other: Resource): void {
  if (one.singular !== other.singular) return;
  throw new DefinitionError(
    `two resources have the singular "${one.singular}"; give one of them another in "singular"`,
  );
}
