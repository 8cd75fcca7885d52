export { ApiError, apiError, type Problem } from './errors/api-error.js';
export { errorCatalogue, type CatalogueEntry, type ErrorCode } from './errors/error-catalogue.js';
export type { ErrorPayload } from './errors/error-payload.js';
export type { ErrorStackPolicy } from './errors/incident.js';
export { applyAll } from './handlers/item-change.js';
export type { CollectionQuery, Selection } from './query/collection-query.js';
export type { Filter } from './query/filter-value.js';
export type { Authenticate } from './request/credentials.js';
export type { ApiRequest, ApiResponse, Principal } from './request/request.js';
export { defineResource } from './resource/define-resource.js';
export type { FilterDeclaration, Match } from './resource/filter.js';
export { DefinitionError } from './resource/naming.js';
export type {
  ChildDeclaration,
  OperationDeclaration,
  Resource,
  ResourceDefinition,
  SortTerm,
} from './resource/resource.js';
export type { CallContext, ItemChange, KeyedChange, Page, ResourceStorage } from './resource/storage.js';
export { createResourceApi, type ApiLog, type ResourceApiOptions } from './resource-api.js';
