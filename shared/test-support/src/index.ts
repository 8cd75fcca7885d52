export { compileClient, type CompiledClient } from './compiled-client.js';
export { type DocumentedOption, documentedOptions } from './documented-options.js';
export { eventually, type EventuallyOptions } from './eventually.js';
export { httpClient, type HttpClient, type HttpRequest, type HttpResponse } from './http-client.js';
export { serve, type TestServer } from './http-server.js';
export { ManualClock } from './manual-clock.js';
export { createTestDatabase, type Migrate, type TestDatabase } from './test-database.js';
export { spectralFindings } from './spectral.js';
export { type EventStreamClient, listenToEvents, type ReceivedEvent } from './event-stream.js';
