import { checkText } from '../job/bounds.js';
import type { ActionOptions } from './audit-log.js';

/** A job search that an operator has saved under a name, for all users to share. */
export interface SavedSearch {
  /** Unique among all saved searches. */
  readonly name: string;
  /** The search, in a format chosen by the program that saved it. The dashboard stores URL parameters. */
  readonly query: string;
  /** Name of the user who last saved the search. */
  readonly savedBy: string;
  readonly savedAt: Date;
}

export type NewSavedSearch = Omit<SavedSearch, 'savedAt'>;

/** Minimum and maximum length of a saved search's texts, in characters. */
export const savedSearchBounds = {
  name: { min: 1, max: 100 },
  query: { min: 1, max: 4_000 },
  savedBy: { min: 0, max: 200 },
} as const;

/** Maximum number of saved searches in one storage. */
export const maxSavedSearches = 100;

export type SaveSearchResult =
  /** The search was saved. `before` is the previous search with the same name; `null` if there was none. */
  | { readonly outcome: 'saved'; readonly before: SavedSearch | null }
  /** Nothing was saved, because there are already {@link maxSavedSearches} other searches. */
  | { readonly outcome: 'full' };

export interface SavedSearches {
  /** Lists all saved searches, sorted by name in the order of an alphabet. */
  list(): Promise<SavedSearch[]>;
  /**
   * Saves a search. Replaces any existing search with the same name.
   *
   * @throws {RangeError} if a text is too short or too long, or contains NUL or unpaired surrogates
   */
  save(search: NewSavedSearch, options?: ActionOptions<SaveSearchResult>): Promise<SaveSearchResult>;
  /** Deletes a search and returns it; `null` if it did not exist. */
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
