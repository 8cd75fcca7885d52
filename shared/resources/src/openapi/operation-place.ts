import type { Resource } from '../definition/resource.js';
import type { StorageFunction } from '../definition/storage.js';
import type { ItemPlace } from './links.js';
import type { Subject } from './wording.js';

/** Where operations are served, and the settings that affect their descriptions. */
export interface OperationPlace extends Subject {
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
  readonly created: ItemPlace | undefined;
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
