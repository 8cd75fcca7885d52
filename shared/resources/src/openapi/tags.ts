import { capitalized, nameInProse, pluralOf } from '../definition/naming.js';
import type { Resource } from '../definition/resource.js';

export interface ResourceGroup {
  readonly title: string;
  /** Unknown names are ignored. */
  readonly resources: readonly string[];
}

export interface Tag {
  readonly name: string;
  readonly 'x-displayName': string;
  readonly description: string;
}

export interface TagGroup {
  readonly name: string;
  readonly tags: readonly string[];
}

/** The tag of the operations that describe the API itself. */
export const selfTag = 'api';

/**
 * Returns one tag per resource name, and one for the API itself. If resources share a name, the top-level resource
 * provides the description.
 */
export function tagsOf(resources: readonly Resource[], roots: ReadonlyMap<string, Resource>): readonly Tag[] {
  const named = new Map([...resources.toReversed().map((one) => [one.name, one] as const), ...roots]);
  const ofResources = [...named.values()].toReversed().map((resource) => {
    const words = capitalized(pluralOf(nameInProse(resource)));
    return {
      name: resource.name,
      'x-displayName': words,
      description: resource.description || `${words}.`,
    };
  });
  return [
    ...ofResources,
    { name: selfTag, 'x-displayName': 'This API', description: 'The index, and the explanations of errors.' },
  ];
}

/** Groups tags for the reference (`x-tagGroups`). A child resource belongs to the first group in which it appears. */
export function tagGroups(
  groups: readonly ResourceGroup[],
  roots: ReadonlyMap<string, Resource>,
): readonly TagGroup[] {
  const grouped = new Set<string>();
  const take = (resource: Resource, into: string[]): void => {
    if (!grouped.has(resource.name)) {
      grouped.add(resource.name);
      into.push(resource.name);
    }
    for (const { resource: child } of resource.children.values()) {
      if (!grouped.has(child.name)) take(child, into);
    }
  };
  const filled = groups.map(({ title, resources }) => {
    const tags: string[] = [];
    for (const name of resources) {
      const root = roots.get(name);
      if (root !== undefined) take(root, tags);
    }
    return { name: title, tags };
  });
  return [...filled.filter(({ tags }) => tags.length > 0), { name: 'About', tags: [selfTag] }];
}
