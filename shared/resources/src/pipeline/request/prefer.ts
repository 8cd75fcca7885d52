import type { CollectionQuery } from '../../query/collection-query.js';

/** The supported preferences in the `Prefer` header (RFC 7240). Other preferences are ignored. */
export interface Preferences {
  readonly count: CollectionQuery['count'];
  readonly respondAsync: boolean;
}

export function parsePrefer(header: string | undefined): Preferences {
  const preferences = new Set(
    (header ?? '')
      .toLowerCase()
      .split(/[,;]/)
      .map((part) => part.replace(/[\s"]/g, '')),
  );
  const count = preferences.has('count=exact') ? 'exact' : preferences.has('count=none') ? 'none' : 'default';
  return { count, respondAsync: preferences.has('respond-async') };
}
