/**
 * Resource-style HTTP APIs: one definition gives routes, validation, SQL and documentation.
 *
 * @module @longshore/resources
 */
export { type OperationJobs, Throttle, type ThrottlePolicy } from '@longshore/edge';
export {
  type Database,
  type PooledConnection,
  type Queryable,
  type QueryResult,
  type Transaction,
  inTransaction,
} from './database/database.js';
export { classifySqlError } from './database/sql-errors.js';
export type { CallContext, Principal, Platform } from './definition/context.js';
export { defineResource } from './definition/define-resource.js';
export {
  type EventSource,
  type ServerSentEvent,
  applyAll,
  type ItemChange,
  type KeyedChange,
  afterCommit,
  type Check,
  Existing,
  type ItemSelection,
  type OperationFunction,
  type ResourceStorage,
  type UncheckedBody,
  type SetOperationFunction,
  Outcome,
  withJob,
} from './definition/storage.js';
export type { FilterDeclaration } from './definition/filter-declaration.js';
export { DefinitionError } from './definition/naming.js';
export {
  type ChildDeclaration,
  type OperationDeclaration,
  type Resource,
  type ResourceDefinition,
  type SetOperationDeclaration,
  type NotAllowed,
  readOnly,
} from './definition/resource.js';
export { ApiError, apiError, type Problem, ProblemList } from './errors/api-error.js';
export { type CatalogueEntry, errorCatalogue, type ErrorCode } from './errors/error-catalogue.js';
export type { ErrorStackPolicy } from './errors/incident.js';
export { type RequestGuard, countRequests, requireCaller } from './koa/middleware.js';
export { answerMalformedHttp } from './koa/connections.js';
export type { ApiInfo } from './openapi/document.js';
export type { ApiChange } from './openapi/guide.js';
export type { OpenApiDocument } from './openapi/document-types.js';
export type { ResourceGroup } from './openapi/tags.js';
export type { SecuritySchemes } from './openapi/policies.js';
export {
  type AccessControl,
  type Authenticate,
  unauthorized,
  readOrWrite,
  type ScopedCall,
  type ScopeOf,
} from './pipeline/access/access-control.js';
export { type ListenerLimits, Listeners } from './pipeline/access/listeners.js';
export type { RowScope, RowScopes } from './pipeline/access/row-scope.js';
export type { ErrorPayload } from './pipeline/error-response.js';
export { type IdempotencyStore, memoryIdempotencyStore } from './pipeline/idempotency.js';
export type { ApiRequest, ApiResponse } from './pipeline/request.js';
export type { ApiLog } from './pipeline/pipeline.js';
export type { CollectionQuery, Selection, SortTerm, StreamQuery } from './query/collection-query.js';
export type { Filter, Match } from './query/filter.js';
export { itemsOf, type Page, pageOf, maxPageBytes } from './query/page.js';
export { createResourceApi, type ResourceApiOptions } from './resource-api.js';
export { idempotencyTable, tableIdempotencyStore } from './table/idempotency-store.js';
export { tableIndexes } from './table/indexes.js';
export type { OperationCall, TableDeclaration } from './table/table-declaration.js';
export { tableStorage } from './table/table-storage.js';
export { type Validator, validatorFor } from './validation/validator.js';
