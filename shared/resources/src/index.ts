export { ApiError, apiError, type Problem, ProblemList } from './errors/api-error.js';
export { errorCatalogue, type CatalogueEntry, type ErrorCode } from './errors/error-catalogue.js';
export type { ErrorPayload } from './errors/error-payload.js';
export type { ErrorStackPolicy } from './errors/incident.js';
export type { EventSource, ServerSentEvent, StreamQuery } from './events/event-source.js';
export { applyAll } from './handlers/item-change.js';
export { memoryIdempotencyStore } from './idempotency/memory-store.js';
export type { IdempotencyStore } from './idempotency/store.js';
export { idempotencyTable, tableIdempotencyStore } from './idempotency/table-store.js';
export { type ConnectionLimits, limitConnections } from './connection-limit.js';
export { answerMalformedHttp } from './malformed-http.js';
export type { ApiInfo } from './openapi/document.js';
export type { OpenApiDocument } from './openapi/document-types.js';
export { itemsOf, pageOf } from './query/collection-page.js';
export type { CollectionQuery, Selection } from './query/collection-query.js';
export type { Filter } from './query/filter-value.js';
export { countRequests, requireCaller } from './koa-guard.js';
export type { SecuritySchemes } from './openapi/security.js';
export type { Admission } from './request/admission.js';
export { Listeners, type ListenerLimits } from './request/listeners.js';
export type { ConfinedField } from './request/confined-storage.js';
export type { Confinement } from './request/confinement.js';
export { type Authenticate, unauthorized } from './request/credentials.js';
export { readOrWrite, type ScopedCall, type ScopeOf } from './request/scope.js';
export { createRateLimit, type RateLimit, type RateLimitPolicy } from './request/rate-limit.js';
export type { RequestGuard } from './koa-adapter.js';
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
export {
  Existing,
  withJob,
  type CallContext,
  type Check,
  type ItemChange,
  type KeyedChange,
  type Page,
  type ResourceStorage,
} from './resource/storage.js';
export { mostPageBytes } from './query/page-bytes.js';
export type { Database, Enqueue, Queryable, Transaction } from './table/database.js';
export type { OperationCall, TableDeclaration } from './table/table.js';
export type { Platform } from './table/table-storage.js';
export { tableIndexes } from './table/indexes.js';
export { inTransaction } from './table/transaction.js';
export { createResourceApi, type ApiLog, type ResourceApiOptions } from './resource-api.js';
