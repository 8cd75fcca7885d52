import type { EnqueueMiddleware, RunMiddleware } from '@longshore/jobs';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Config } from './config.js';
import type { StartRequestSpan } from './observed-requests.js';
import type { OnRelease } from './run-service.js';
import { serverVariables, serviceVariables } from './variables.js';

const variables = Type.Object({
  OTEL_EXPORTER_OTLP_ENDPOINT: serviceVariables.OTEL_EXPORTER_OTLP_ENDPOINT,
  WORKER_TRACE: Type.Optional(serverVariables.WORKER_TRACE),
  WORKER_VERSION: Type.Optional(serverVariables.WORKER_VERSION),
});

/** What makes the spans of a service. */
export interface Tracing {
  readonly clientMiddleware: readonly EnqueueMiddleware[];
  readonly serverMiddleware: readonly RunMiddleware[];
  readonly startRequest: StartRequestSpan;
}

const none: Tracing = { clientMiddleware: [], serverMiddleware: [], startRequest: () => null };

/**
 * Starts the SDK of OpenTelemetry if `OTEL_EXPORTER_OTLP_ENDPOINT` is set; otherwise, there are no spans. The last spans are sent
 * when the service is released.
 *
 * @param service the name of the service, such as `api`
 */
export async function startTracing(
  config: Config<typeof variables>,
  service: string,
  logger: Logger,
  onRelease: OnRelease,
): Promise<Tracing> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, WORKER_TRACE: relation = 'link', WORKER_VERSION } = config;
  if (endpoint === undefined) return none;
  // Imported only if it is used, because loading the SDK takes a while, and most services run without it.
  const { startSdk, startRequest } = await import('./open-telemetry.js');
  const { traceAttempts, traceEnqueues } = await import('@longshore/jobs/tracing');
  onRelease(startSdk({ endpoint, service, application: WORKER_VERSION ?? '', logger }));
  return {
    clientMiddleware: [traceEnqueues()],
    serverMiddleware: [traceAttempts({ trace: relation })],
    startRequest,
  };
}
