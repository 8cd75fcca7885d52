/**
 * Spans of OpenTelemetry for jobs, through `@opentelemetry/api` alone: without an SDK, which the application registers, there
 * are none.
 *
 * @module @longshore/jobs/tracing
 */
import {
  type Attributes,
  context as contexts,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import type { EnqueueMiddleware, EnqueueRequest } from './client/enqueue-request.js';
import { CancelJob, SnoozeJob } from './job/errors.js';
import { toJobError } from './job/failure.js';
import { isA } from './job/is-a.js';
import { isTraceparent } from './job/meta.js';
import { type Check, checkOptions } from './job/options.js';
import { shown } from './job/shown.js';
import type { RunMiddleware } from './server/handler.js';
import type { AttemptObserver, RunningAttempt } from './server/running-attempt.js';
import type { AroundPart } from './server/steps/step-work.js';

const scope = '@longshore/jobs';

/**
 * Returns middleware of a client that makes a span of the kind `producer` for each call of `enqueue`, `enqueueMany` and
 * `enqueueBatch`. The jobs carry its `traceparent`, unless they have one of their own.
 */
export function traceEnqueues(): EnqueueMiddleware {
  const tracer = trace.getTracer(scope);
  return (call, next) => {
    const requests = call.callback === null ? call.requests : [...call.requests, call.callback];
    const queue = common(requests, ({ definition, options }) => options?.queue ?? definition.queue);
    const name = common(requests, ({ definition }) => definition.name);
    const span = tracer.startSpan(queue === undefined ? 'send' : `send ${queue}`, {
      kind: SpanKind.PRODUCER,
      attributes: {
        ...messaging('send', queue),
        ...(name !== undefined && { 'longshore.job.name': name }),
        ...(requests.length !== 1 && { 'messaging.batch.message_count': requests.length }),
      },
    });
    const traceparent = traceparentOf(span.spanContext());
    if (traceparent === null) return next();
    const traced = (request: EnqueueRequest): EnqueueRequest => ({
      ...request,
      options: { traceparent, ...request.options },
    });
    call.requests = call.requests.map(traced);
    if (call.callback !== null) call.callback = traced(call.callback);
    return within(span, contexts.active(), async () => {
      const enqueued = await next();
      const [job] = enqueued;
      if (job !== undefined && enqueued.length === 1) span.setAttribute('messaging.message.id', job.id);
      return enqueued;
    });
  };
}

/** How the span of an attempt refers to the span in which its job was enqueued. */
export const traceRelations = ['link', 'child'] as const;

export type TraceRelation = (typeof traceRelations)[number];

export interface AttemptTracingOptions {
  /**
   * `link`, the default, makes each attempt a trace of its own, with a link to the span in which the job was enqueued.
   * `child` makes it a child of that span: the trace then grows with all jobs that the request has led to, and with
   * their attempts, however much later they run.
   */
  readonly trace?: TraceRelation;
}

const isRelation: Check = (what, value) => {
  if (!(traceRelations as readonly unknown[]).includes(value))
    throw new TypeError(`${what} must be 'link' or 'child', not ${shown(value)}`);
};

/**
 * Returns middleware of a server that makes a span of the kind `consumer` for each attempt, and in it one for each attempt of
 * a step and one for `transaction`. Spans of attempts that fail have the status `error`. List it first, so that the
 * span includes the other middleware.
 *
 * @throws {TypeError} if an option is unknown or of the wrong kind
 */
export function traceAttempts(options: AttemptTracingOptions = {}): RunMiddleware {
  checkOptions('traceAttempts', options, { trace: isRelation });
  const isChild = options.trace === 'child';
  const tracer = trace.getTracer(scope);
  return (context, next) => {
    const { job } = context;
    const origin = spanContextOf(job.traceparent);
    // Not the active context, because a server can start a job within the call that enqueues it.
    const parent = isChild && origin !== null ? trace.setSpanContext(ROOT_CONTEXT, origin) : ROOT_CONTEXT;
    const span = tracer.startSpan(
      `process ${job.queue}`,
      {
        kind: SpanKind.CONSUMER,
        attributes: {
          ...messaging('process', job.queue),
          'messaging.message.id': job.id,
          'longshore.job.name': job.name,
          'longshore.job.attempt': job.attempt,
        },
        ...(!isChild && origin !== null && { links: [{ context: origin }] }),
      },
      parent,
    );
    if (traceparentOf(span.spanContext()) === null) return next();
    // The context is always the attempt, because middleware cannot replace it.
    const attempt = context as RunningAttempt;
    if (span.isRecording()) attempt.observer = new AttemptSpans(tracer, span);
    return within(span, parent, async () => {
      const result = await next();
      // The attempt has failed then, although its handler has returned.
      if (attempt.timeout !== null) fail(span, attempt.timeout);
      return result;
    });
  };
}

/** Makes the spans of the parts of an attempt. */
class AttemptSpans implements AttemptObserver {
  readonly #tracer: Tracer;
  readonly #attempt: Span;

  constructor(tracer: Tracer, attempt: Span) {
    this.#tracer = tracer;
    this.#attempt = attempt;
  }

  readonly around: AroundPart = (part, work) => {
    const { name, attributes } = describe(part);
    const span = this.#tracer.startSpan(name, { attributes });
    return within(span, contexts.active(), work);
  };

  readonly leftHandler = (reason: Error | null): void => {
    if (reason === null) this.#attempt.setAttribute('longshore.job.suspended', true);
    else fail(this.#attempt, reason);
    end(this.#attempt);
  };
}

/** The names of steps in a loop have the form `label:{key}`; those of spans must not contain keys. */
function describe(part: Parameters<AroundPart>[0]): {
  readonly name: string;
  readonly attributes: Attributes;
} {
  if (part.kind === 'transaction') return { name: 'transaction', attributes: {} };
  const attributes = { 'longshore.step.name': part.name, 'longshore.step.attempt': part.attempt };
  return { name: `step ${part.name.split(':', 1)[0] ?? ''}`, attributes };
}

/** Returns the attributes of a span of an operation on a queue; on several queues if it is `undefined`. */
function messaging(operation: 'send' | 'process', queue: string | undefined): Attributes {
  return {
    'messaging.system': 'longshore',
    'messaging.operation.type': operation,
    'messaging.operation.name': operation,
    ...(queue !== undefined && { 'messaging.destination.name': queue }),
  };
}

/** Returns what all requests have in common; `undefined` if they differ, or there are none. */
function common(
  requests: readonly EnqueueRequest[],
  of: (request: EnqueueRequest) => string,
): string | undefined {
  const [first] = requests;
  if (first === undefined) return undefined;
  const value = of(first);
  return requests.every((request) => of(request) === value) ? value : undefined;
}

/** Makes a span the active one while some work runs, and ends it with the work. */
async function within<Result>(
  span: Span,
  parent: ReturnType<typeof contexts.active>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await contexts.with(trace.setSpan(parent, span), work);
  } catch (error) {
    if (!isA(error, SnoozeJob) && !isA(error, CancelJob)) fail(span, error);
    throw error;
  } finally {
    end(span);
  }
}

function fail(span: Span, thrown: unknown): void {
  if (!span.isRecording()) return;
  const { name, message, stack } = toJobError(thrown);
  span.recordException({ name, message, ...(stack !== null && { stack }) });
  span.setAttribute('error.type', name);
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** Ends a span that may have ended already. */
function end(span: Span): void {
  if (span.isRecording()) span.end();
}

/** Returns the `traceparent` of a span; `null` if there is no SDK to have made it. */
export function traceparentOf(span: SpanContext): string | null {
  if (!isSpanContextValid(span)) return null;
  return `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}

/** Returns the span that a `traceparent` names; `null` if it is missing or malformed. */
export function spanContextOf(traceparent: string | null): SpanContext | null {
  if (traceparent === null || !isTraceparent(traceparent)) return null;
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
