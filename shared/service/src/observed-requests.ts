import { AsyncLocalStorage } from 'node:async_hooks';
import { requestIdOf } from '@longshore/edge';
import { readTraceId } from '@longshore/jobs/storage';
import type Koa from 'koa';

/** A request whose response has been sent, or whose client has left. */
export interface EndedRequest {
  readonly id: string;
  /** The trace id of its span or, without one, of its `traceparent`; `null` if it has neither. */
  readonly traceId: string | null;
  /** One of the methods that HTTP defines, or `(other)`. */
  readonly method: string;
  /** The path without the query, which can contain secrets. */
  readonly path: string;
  /** The pattern of its route, such as `/api/v1/jobs/{id}`; `(none)` if there is no such path. */
  readonly route: string;
  /** The status of the response; 499 if the client left before the response was sent. */
  readonly status: number;
  /** From when the request had arrived until the response had been sent, in milliseconds. */
  readonly durationMs: number;
  /** The length of the body, in bytes; `null` if that is not known in advance. */
  readonly bytes: number | null;
  /** The address of the client, as far as the proxies in front of the service are trusted. */
  readonly address: string;
  /** Whether the response is an event stream, which ends when its client leaves. */
  readonly isEventStream: boolean;
}

/** The span of a request in a trace of OpenTelemetry. */
export interface RequestSpan {
  readonly traceId: string;
  /** Runs some work of the request, so that further spans are below this one. */
  during<Result>(work: () => Promise<Result>): Promise<Result>;
  end(request: EndedRequest): void;
}

/** Starts the span of a request. Returns `null` for requests that are not traced. */
export type StartRequestSpan = (request: {
  /** As in {@link EndedRequest}. */
  readonly method: string;
  readonly path: string;
  /** The `traceparent` of the client; empty if there is none. */
  readonly traceparent: string;
}) => RequestSpan | null;

/** What every log line that is written while a request is handled states about it. */
interface CurrentRequest {
  readonly requestId: string;
  readonly traceId?: string;
}

const current = new AsyncLocalStorage<CurrentRequest>();

/** Returns the request that is being handled; `undefined` outside of requests. */
export function currentRequest(): CurrentRequest | undefined {
  return current.getStore();
}

/**
 * Returns middleware, the first one of a service, that reports each request when it has ended, and notes which request the
 * log lines in between belong to. The response names the id of the request in `X-Request-Id`.
 *
 * @param startSpan starts the span of each request; by default, there are none
 */
export function observeRequests(
  listeners: readonly ((request: EndedRequest) => void)[],
  startSpan: StartRequestSpan = () => null,
): Koa.Middleware {
  return (context, next) => {
    const startedAt = performance.now();
    const id = requestIdOf(context);
    const traceparent = context.get('traceparent');
    const span = startSpan({ method: methodOf(context), path: context.path, traceparent });
    const traceId = span?.traceId ?? readTraceId(traceparent);
    context.set('x-request-id', id);
    context.res.once('close', () => {
      const request = { id, traceId, durationMs: performance.now() - startedAt, ...describe(context) };
      for (const listener of listeners) listener(request);
      span?.end(request);
    });
    const handle = (): Promise<unknown> =>
      current.run({ requestId: id, ...(traceId !== null && { traceId }) }, next);
    return span === null ? handle() : span.during(handle);
  };
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);

function methodOf({ method }: Koa.Context): string {
  return methods.has(method) ? method : '(other)';
}

function describe(context: Koa.Context): Omit<EndedRequest, 'id' | 'traceId' | 'durationMs'> {
  const { path, ip: address, res } = context;
  const { _matchedRoute: route } = context as { readonly _matchedRoute?: unknown };
  const isEventStream = String(res.getHeader('content-type')).startsWith('text/event-stream');
  const length = res.getHeader('content-length');
  return {
    method: methodOf(context),
    path,
    route: typeof route === 'string' ? route.replaceAll(/:(\w+)/g, '{$1}') : '(none)',
    status: res.writableFinished || isEventStream ? res.statusCode : 499,
    bytes: length === undefined ? null : Number(length),
    address,
    isEventStream,
  };
}
