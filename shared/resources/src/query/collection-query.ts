import type { JsonSchema } from '../validation/json-schema.js';
import type { Filter, FilterParameter } from './filter.js';

/** Names with a meaning of their own in collection queries. */
export const reservedParameters = ['q', 'sort', 'fields', 'limit', 'offset', 'after', 'before'] as const;

/** A sort term such as `-createdAt`. */
export interface SortTerm {
  readonly field: string;
  readonly direction: 'asc' | 'desc';
}

/** How a search finds. */
export type SearchBy = 'similar' | 'words';

/** What queries on a resource may refer to: the part of its definition that parsing needs. */
export interface QueryRules {
  readonly item: JsonSchema;
  /** The names of the item's fields in the order of the schema. */
  readonly fields: readonly string[];
  /** The field that identifies an item. */
  readonly key: string;
  readonly filters: ReadonlyMap<string, FilterParameter>;
  /** The fields that `sort` accepts. */
  readonly sort: readonly string[];
  readonly defaultSort: readonly SortTerm[];
  /** The fields that `q` searches; empty if the resource has no search. */
  readonly search: readonly string[];
  readonly searchBy: SearchBy;
  readonly limits: { readonly default: number; readonly max: number };
}

/** Which items of a collection: all filters hold, and the search text matches. */
export interface Selection {
  readonly filters: readonly Filter[];
  /** The value of `q`; undefined for no search. */
  readonly search: string | undefined;
}

/** A parsed query on a collection, as a storage gets it. */
export interface CollectionQuery extends Selection {
  /** Ends with the key, so that the order is total. */
  readonly sort: readonly SortTerm[];
  /** There is a search and no explicit sort: best match first, then `sort`. */
  readonly byRelevance: boolean;
  readonly limit: number;
  readonly offset: number;
  /** A page by cursor instead of offset: only items after or before these values of `sort`'s fields. */
  readonly seek: Seek | undefined;
  /** The fields asked for; undefined for all. The toolkit trims the items, a storage may read less. */
  readonly fields: readonly string[] | undefined;
  /** `Prefer: count=`; `default`: exact where that is cheap, otherwise an estimate. */
  readonly count: 'default' | 'exact' | 'none';
}

/** What a listener asks for. */
export interface StreamQuery {
  readonly filters: readonly Filter[];
  /** The id of the last event that it has had; undefined to begin with what comes. */
  readonly lastEventId: string | undefined;
}

/** A place in the order of a collection. */
export interface Seek {
  readonly direction: 'after' | 'before';
  /** One value for each sort term; none, with `before`: the end of the collection. */
  readonly values: readonly unknown[];
}
