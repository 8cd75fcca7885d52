export { ApiError, apiError, type Problem, ProblemList } from './errors/api-error.js';
export { errorCatalogue, type CatalogueEntry, type ErrorCode } from './errors/error-catalogue.js';
export type { ErrorPayload } from './pipeline/error-payload.js';
export type { ErrorStackPolicy } from './errors/incident.js';
export type { EventSource, ServerSentEvent, StreamQuery } from './definition/event-source.js';
export { applyAll } from './pipeline/handlers/requested-change.js';
export { memoryIdempotencyStore } from './pipeline/idempotency/memory-store.js';
export type { IdempotencyStore } from './pipeline/idempotency/store.js';
export { idempotencyTable, tableIdempotencyStore } from './table/idempotency-store.js';
export { type ConnectionLimits, limitConnections } from './koa/connection-limit.js';
export { answerMalformedHttp } from './koa/malformed-http.js';
export type { ApiInfo } from './openapi/document.js';
export type { OpenApiDocument } from './openapi/document-types.js';
export { itemsOf, pageOf } from './query/page.js';
export type { CollectionQuery, Selection } from './query/collection-query.js';
export type { Filter } from './query/filter.js';
export { countRequests, requireCaller } from './koa/caller-guard.js';
export type { SecuritySchemes } from './openapi/security.js';
export type { Admission } from './pipeline/access/access-control.js';
export { Listeners, type ListenerLimits } from './pipeline/access/listeners.js';
export type { ConfinedField } from './pipeline/access/row-scope.js';
export type { Confinement } from './pipeline/access/confinement.js';
export { type Authenticate, unauthorized } from './pipeline/access/authentication.js';
export { readOrWrite, type ScopedCall, type ScopeOf } from './pipeline/access/scope.js';
export { createRateLimit, type RateLimit, type RateLimitPolicy } from './pipeline/access/rate-limit.js';
export type { RequestGuard } from './koa/adapter.js';
export type { ApiRequest, ApiResponse, Principal } from './pipeline/request/request.js';
export { defineResource } from './definition/define-resource.js';
export type { FilterDeclaration, Match } from './definition/filter-declaration.js';
export { DefinitionError } from './definition/naming.js';
export type {
  ChildDeclaration,
  OperationDeclaration,
  Resource,
  ResourceDefinition,
  SortTerm,
} from './definition/resource.js';
export {
  Existing,
  withJob,
  type CallContext,
  type Check,
  type ItemChange,
  type KeyedChange,
  type Page,
  type ResourceStorage,
} from './definition/storage.js';
export type { Database, Enqueue, Queryable, Transaction } from './database/database.js';
export type { OperationCall, TableDeclaration } from './table/table.js';
export type { Platform } from './table/table-storage.js';
export { tableIndexes } from './table/indexes.js';
export { inTransaction } from './database/transaction.js';
export { createResourceApi, type ApiLog, type ResourceApiOptions } from './resource-api.js';
