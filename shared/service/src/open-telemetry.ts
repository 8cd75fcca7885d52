import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { spanContextOf } from '@longshore/jobs/tracing';
import { context as contexts, diag, DiagLogLevel, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import { probes, shownPath } from './access-log.js';
import type { StartRequestSpan } from './observed-requests.js';
import { serviceVersion } from './process-metrics.js';

/** How long a stopping service waits for the collector, in milliseconds: a stop must not take longer because it is down. */
const lastSpansMs = 3_000;

interface SdkOptions {
  /** The base URL of the collector. */
  readonly endpoint: string;
  /** The name of the service, such as `api`. */
  readonly service: string;
  /** The version of the application; empty if it has none. */
  readonly application: string;
  readonly logger: Logger;
}

/**
 * Starts to send spans over OTLP, as Protocol Buffers over HTTP. The SDK reads the other variables of OpenTelemetry from the
 * environment. If another SDK is registered in this process, leaves everything to that.
 *
 * @returns a function that sends the last spans and stops the SDK; it never rejects
 */
export function startSdk({ endpoint, service, application, logger }: SdkOptions): () => Promise<void> {
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': `longshore-${service}`,
        'service.version': serviceVersion,
        'service.instance.id': `${hostname()}:${process.pid}`,
        ...(application !== '' && { 'longshore.application.version': application }),
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] });
  if (!trace.setGlobalTracerProvider(provider)) {
    logger.info({}, 'another OpenTelemetry SDK is registered in this process, and sends the spans');
    return async () => provider.shutdown().catch(() => undefined);
  }
  provider.register(); // what it needs besides; before there is a logger that it could tell that it is registered already
  const report = (message: string): void => logger.warn({}, `OpenTelemetry: ${message}`);
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  return async () => {
    try {
      await Promise.race([provider.shutdown(), collectorTimeout()]);
    } catch (error) {
      logger.warn({ err: error }, 'the last spans could not be sent');
    } finally {
      trace.disable();
      contexts.disable();
      diag.disable();
    }
  };
}

async function collectorTimeout(): Promise<never> {
  await sleep(lastSpansMs, undefined, { ref: false });
  throw new Error(`The collector has not accepted them within ${lastSpansMs / 1_000} s`);
}

/**
 * Starts the span of a request, which continues the trace of its `traceparent`. Returns `null` for probes and scrapes, which
 * would be most of the traces of an idle service.
 */
export const startRequest: StartRequestSpan = ({ method, path: requested, traceparent }) => {
  if (probes.test(requested)) return null;
  const origin = trace.getSpan(contexts.active()) === undefined ? spanContextOf(traceparent) : null;
  const parent = origin === null ? contexts.active() : trace.setSpanContext(contexts.active(), origin);
  const httpMethod = method === '(other)' ? '_OTHER' : method;
  const span = trace
    .getTracer('@longshore/service')
    .startSpan(
      httpMethod,
      { kind: SpanKind.SERVER, attributes: { 'http.request.method': httpMethod } },
      parent,
    );
  return {
    traceId: span.spanContext().traceId,
    during: (work) => contexts.with(trace.setSpan(parent, span), work),
    end: ({ route, status, path, address, id }) => {
      if (route !== '(none)') {
        span.updateName(`${httpMethod} ${route}`);
        span.setAttribute('http.route', route);
      }
      span.setAttributes({
        'url.path': shownPath(path),
        'client.address': address,
        'longshore.request.id': id,
        ...(status !== 499 && { 'http.response.status_code': status }),
      });
      if (status >= 499) {
        span.setAttribute('error.type', status === 499 ? 'client_disconnected' : String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
};
