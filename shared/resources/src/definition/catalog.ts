import type { Catalog } from '../pipeline/request/route.js';
import type { Platform } from '../table/table-storage.js';
import { DefinitionError } from './naming.js';
import type { AnyStorage, Resource } from './resource.js';

/**
 * Connects resources and all their children to their storages, once each.
 * @throws DefinitionError if two resources at the top share a name, or a table has no database
 */
export function createCatalog(resources: readonly Resource[], platform: Platform | undefined): Catalog {
  const roots = new Map<string, Resource>();
  const storages = new Map<Resource, AnyStorage>();
  const connect = (resource: Resource): void => {
    if (storages.has(resource)) return;
    for (const other of storages.keys()) requireOwnSingular(resource, other);
    storages.set(resource, resource.connect(platform));
    for (const child of resource.children.values()) connect(child.resource);
  };
  for (const resource of resources) {
    if (roots.has(resource.name)) throw new DefinitionError(`two resources are named "${resource.name}"`);
    roots.set(resource.name, resource);
    connect(resource);
  }
  const storageOf = (resource: Resource): AnyStorage => {
    const storage = storages.get(resource);
    if (storage === undefined) throw new Error(`resource "${resource.name}" is not connected`);
    return storage;
  };
  return { roots, storageOf };
}

/** Schemas and operations in the document are named after the singular. */
function requireOwnSingular(one: Resource, other: Resource): void {
  if (one.singular !== other.singular) return;
  throw new DefinitionError(
    `two resources have the singular "${one.singular}"; give one of them another in "singular"`,
  );
}
