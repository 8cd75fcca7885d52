import Type from 'typebox';
import {
  maxSavedSearches,
  type SavedSearch,
  savedSearchBounds,
  type SaveSearchResult,
} from '../storage/saved-searches.js';
import { storable } from '../job/storable.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

const SaveFields = Type.Object({ search: Type.String({ maxLength: savedSearchBounds.query.max }) });

/** The operations on a saved search of the dashboard, which is identified by its name. */
export const savedSearchOperations = {
  save: operation<typeof SaveFields, SavedSearch, SaveSearchResult>({
    on: 'searches',
    name: 'save',
    summary: 'Save a search',
    done: 'saved',
    message: 'The search is saved.',
    role: 'operator',
    fields: SaveFields,
    change: ({ savedSearches }, { target, fields, by }, options) =>
      savedSearches.save(
        { name: target, query: fields.search, savedBy: storable(by.name, savedSearchBounds.savedBy.max) },
        options,
      ),
    facts: (result): Facts =>
      result.outcome === 'saved'
        ? { outcome: 'done', before: result.before && { search: result.before.query } }
        : { outcome: 'illegal', why: `there are already ${maxSavedSearches}; delete one first` },
    after: () => null,
  }),
  delete: operation<typeof noFields, SavedSearch, SavedSearch | null>({
    on: 'searches',
    name: 'delete',
    summary: 'Delete a saved search',
    done: 'deleted',
    message: 'The saved search is deleted.',
    role: 'operator',
    fields: noFields,
    change: ({ savedSearches }, { target }, options) => savedSearches.delete(target, options),
    facts: (before): Facts =>
      before === null ? { outcome: 'unknown' } : { outcome: 'done', before: { search: before.query } },
    after: (_storage, _call, deleted: SavedSearch | null) => deleted,
  }),
};
