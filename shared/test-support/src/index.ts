export { apiClient, apiFetch, checkFetchedAnswers } from './api-client.js';
export { citusUrl, createCitusDatabase } from './citus-database.js';
export { compileClient, type CompiledClient } from './compiled-client.js';
export { type DocumentedOption, documentedOptions } from './documented-options.js';
export { type During, during, nextMillisecond } from './during.js';
export { eventually, type EventuallyOptions } from './eventually.js';
export { httpClient, type HttpClient, type HttpRequest, type HttpResponse } from './http-client.js';
export { serve, type TestServer } from './http-server.js';
export { ManualClock } from './manual-clock.js';
export { createTestDatabase, type Migrate, type TestDatabase } from './test-database.js';
export { AnswerContract, type Breach } from './openapi/answer-contract.js';
export { candidatesOf, valuesFor } from './openapi/candidates.js';
export { parseJson } from './openapi/json.js';
export {
  type OpenApiDocument,
  type Operation,
  operationsOf,
  type Parameter,
  resolve,
} from './openapi/operations.js';
export { type Kind, kindsOf, type Schema } from './openapi/schema.js';
export { badAnswers } from './odd-values.js';
export { patientServer, patientStorage } from './patience.js';
export { overriding, type Overrides } from './overriding.js';
export { type EventStreamClient, listenToEvents, type ReceivedEvent } from './event-stream.js';
export {
  allJobs,
  type Invariant,
  storeInvariants,
  storeViolations,
  unfinishedJobs,
} from './store-invariants.js';
export { TcpProxy } from './tcp-proxy.js';
export { threadedRequest } from './threaded-request.js';
export { turnsDuring } from './turns.js';
