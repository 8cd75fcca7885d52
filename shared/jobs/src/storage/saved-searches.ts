import { checkText } from '../job/bounds.js';
import type { ActionOptions } from './audit-log.js';

/** A search for jobs that an operator saved under a name, for everyone who uses this storage. */
export interface SavedSearch {
  /** Identifies the search. */
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
  /** There are {@link maxSavedSearches} others; nothing changed. */
  | { readonly outcome: 'full' };

/** Stores searches by name. All users share them. */
export interface SavedSearches {
  /** Lists all saved searches by name. */
  list(): Promise<SavedSearch[]>;
  /**
   * Saves a search, and replaces the one of the same name, if any.
   *
   * @throws {RangeError} if a text is out of bounds
   */
  save(search: NewSavedSearch, options?: ActionOptions<SaveSearchResult>): Promise<SaveSearchResult>;
  /** Deletes a search. Returns it as it was; `null` if it did not exist. */
  delete(name: string, options?: ActionOptions<SavedSearch | null>): Promise<SavedSearch | null>;
}

/**
 * Checks the texts of a search. Every storage calls it.
 *
 * @throws {RangeError} if a text is too short, too long or contains NUL
 */
export function checkSavedSearch({ name, query, savedBy }: NewSavedSearch): void {
  checkText('The name of a search', name, savedSearchBounds.name);
  checkText('A search', query, savedSearchBounds.query);
  checkText('savedBy', savedBy, savedSearchBounds.savedBy);
}
