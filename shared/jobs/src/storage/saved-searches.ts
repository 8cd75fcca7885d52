import { checkText } from '../job/bounds.js';
import type { ActionOptions } from './audit-log.js';

/** A search for jobs that an operator saved under a name. Shared by all users of this storage. */
export interface SavedSearch {
  /** The unique name of the search. */
  readonly name: string;
  /** The search, in the format of the program that saved it. The dashboard stores URL parameters. */
  readonly query: string;
  /** Who saved it last, as named by the program that authenticated them. */
  readonly savedBy: string;
  readonly savedAt: Date;
}

export type NewSavedSearch = Omit<SavedSearch, 'savedAt'>;

/** The bounds of a saved search's texts, in characters. */
export const savedSearchBounds = {
  name: { min: 1, max: 100 },
  query: { min: 1, max: 4_000 },
  savedBy: { min: 0, max: 200 },
} as const;

/** Maximum number of saved searches. */
export const maxSavedSearches = 100;

export type SaveSearchResult =
  /** `before` is the search of this name that was replaced; `null` if there was none. */
  | { readonly outcome: 'saved'; readonly before: SavedSearch | null }
  /** There are already {@link maxSavedSearches} other searches; nothing changed. */
  | { readonly outcome: 'full' };

/** Stores searches by name, shared by all users. */
export interface SavedSearches {
  /** Lists all saved searches, sorted by name. */
  list(): Promise<SavedSearch[]>;
  /**
   * Saves a search. Replaces the search of the same name, if there is one.
   *
   * @throws {RangeError} if a text is out of bounds
   */
  save(search: NewSavedSearch, options?: ActionOptions<SaveSearchResult>): Promise<SaveSearchResult>;
  /** Deletes a search. Returns the deleted search; `null` if it did not exist. */
  delete(name: string, options?: ActionOptions<SavedSearch | null>): Promise<SavedSearch | null>;
}

/**
 * Checks the texts of a search before it is saved.
 *
 * @throws {RangeError} if a text is too short or too long, or contains NUL or unpaired surrogates
 */
export function checkSavedSearch({ name, query, savedBy }: NewSavedSearch): void {
  checkText('The name of a search', name, savedSearchBounds.name);
  checkText('A search', query, savedSearchBounds.query);
  checkText('savedBy', savedBy, savedSearchBounds.savedBy);
}
