import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import {
  CancelJob,
  defineJob,
  handleJob,
  JobClient,
  type JobContext,
  type JobState,
  MemoryStorage,
  SnoozeJob,
} from '../src/index.js';
import { type AttemptTracingOptions, traceAttempts, traceEnqueues } from '../src/tracing.js';
import { jobInState, whileServing } from './support/serving.js';

const definition = defineJob({ name: 'paint', queue: 'walls', maxAttempts: 1 });

describe('Spans', () => {
  let exporter: InMemorySpanExporter;
  let provider: NodeTracerProvider;
  let storage: MemoryStorage;
  let client: JobClient;

  beforeEach(() => {
    exporter = new InMemorySpanExporter();
    provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    provider.register();
    storage = new MemoryStorage();
    client = new JobClient(storage, { middleware: [traceEnqueues()] });
  });
  afterEach(async () => {
    trace.disable();
    context.disable();
    await provider.shutdown();
  });

  /** Waits until a span with this name has ended. */
  const spanNamed = (name: string): Promise<ReadableSpan> =>
    eventually(() => {
      const span = exporter.getFinishedSpans().find((each) => each.name === name);
      if (span === undefined) throw new Error(`no span "${name}"`);
      return span;
    });

  /** Runs a job until it is in `state`. Resolves to the spans of its enqueue and its first attempt. */
  async function spansOf(
    run: (context: JobContext<unknown>) => unknown,
    state: JobState = 'done',
    options: AttemptTracingOptions = {},
  ): Promise<{ readonly sent: ReadableSpan; readonly processed: ReadableSpan; readonly id: string }> {
    const handlers = [handleJob(definition, async (job) => run(job))];
    return whileServing(
      storage,
      'walls',
      handlers,
      async () => {
        const { id } = await client.enqueue(definition, {});
        await jobInState(storage, id, state);
        return { sent: await spanNamed('send walls'), processed: await spanNamed('process walls'), id };
      },
      { middleware: [traceAttempts(options)], client },
    );
  }

  it('describe an enqueued job and its attempt by the semantic conventions for messaging', async () => {
    const { sent, processed, id } = await spansOf(() => null);
    const common = {
      'messaging.system': 'longshore',
      'messaging.destination.name': 'walls',
      'messaging.message.id': id,
      'longshore.job.name': 'paint',
    };
    expect([sent.kind, sent.attributes]).to.deep.equal([
      SpanKind.PRODUCER,
      { ...common, 'messaging.operation.type': 'send', 'messaging.operation.name': 'send' },
    ]);
    expect([processed.kind, processed.attributes]).to.deep.equal([
      SpanKind.CONSUMER,
      {
        ...common,
        'messaging.operation.type': 'process',
        'messaging.operation.name': 'process',
        'longshore.job.attempt': 1,
      },
    ]);
  });

  it('of attempts are traces of their own, with a link to the enqueue', async () => {
    const { sent, processed } = await spansOf(() => null);
    const { traceId, spanId } = sent.spanContext();
    expect(processed.links.map((link) => [link.context.traceId, link.context.spanId])).to.deep.equal([
      [traceId, spanId],
    ]);
    expect(processed.parentSpanContext).to.equal(undefined);
    expect(processed.spanContext().traceId).not.to.equal(traceId);
  });

  it('of attempts are children of the enqueue with the option `child`', async () => {
    const { sent, processed } = await spansOf(() => null, 'done', { trace: 'child' });
    expect(processed.links).to.deep.equal([]);
    expect(processed.parentSpanContext?.spanId).to.equal(sent.spanContext().spanId);
    expect(processed.spanContext().traceId).to.equal(sent.spanContext().traceId);
  });

  it('of steps are below their attempt, named without the keys of a loop', async () => {
    const { processed } = await spansOf(async ({ step }) => step('label:7', () => 'labelled'));
    const step = await spanNamed('step label');
    expect(step.parentSpanContext?.spanId).to.equal(processed.spanContext().spanId);
    expect(step.attributes).to.deep.equal({ 'longshore.step.name': 'label:7', 'longshore.step.attempt': 1 });
  });

  it('of jobs that a handler enqueues are below its attempt', async () => {
    const other = defineJob({ name: 'dry', queue: 'air' });
    const { processed } = await spansOf(async ({ enqueue }) => enqueue(other, {}));
    const sent = await spanNamed('send air');
    expect(sent.parentSpanContext?.spanId).to.equal(processed.spanContext().spanId);
  });

  it('of attempts end when the attempt is suspended', async () => {
    const { processed } = await spansOf(({ sleep }) => sleep('dry', { ms: 3_600_000 }), 'scheduled');
    expect(processed.attributes['longshore.job.suspended']).to.equal(true);
    expect(processed.status.code).to.equal(SpanStatusCode.UNSET);
  });

  it('of failed attempts state the error', async () => {
    const { processed } = await spansOf(() => {
      throw new RangeError('no paint left');
    }, 'failed');
    expect(processed.status).to.deep.equal({ code: SpanStatusCode.ERROR, message: 'no paint left' });
    expect(processed.attributes['error.type']).to.equal('RangeError');
    expect(processed.events.map(({ name }) => name)).to.deep.equal(['exception']);
  });

  it('of attempts that a handler gives up on purpose have no error', async () => {
    const snoozed = await spansOf(() => {
      throw new SnoozeJob(3_600_000);
    }, 'scheduled');
    exporter.reset();
    const cancelled = await spansOf(() => {
      throw new CancelJob('not needed');
    }, 'cancelled');
    for (const { processed } of [snoozed, cancelled])
      expect(processed.status.code).to.equal(SpanStatusCode.UNSET);
  });

  it('of a handler that does not stop after its timeout end with the error', async () => {
    const stuck = defineJob({ name: 'stuck', queue: 'walls', maxAttempts: 1, timeoutMs: 1 });
    const handlers = [handleJob(stuck, () => new Promise(() => undefined))];
    await whileServing(
      storage,
      'walls',
      handlers,
      async () => {
        const { id } = await client.enqueue(stuck, {});
        await jobInState(storage, id, 'failed');
        expect((await spanNamed('process walls')).attributes['error.type']).to.equal('JobTimeoutError');
      },
      { middleware: [traceAttempts()], timeoutGraceMs: 1 },
    );
  });

  it('of a call with several jobs state how many, and the queue if it is the same for all', async () => {
    await client.enqueueMany([
      { definition, args: {} },
      { definition, args: {} },
    ]);
    await client.enqueueMany([
      { definition, args: {} },
      { definition, args: {}, options: { queue: 'ceilings' } },
    ]);
    const { attributes } = await spanNamed('send walls');
    expect(attributes['messaging.batch.message_count']).to.equal(2);
    expect((await spanNamed('send')).attributes).not.to.have.property('messaging.destination.name');
  });

  it('leave the `traceparent` of a job that has one', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { id } = await client.enqueue(definition, {}, { traceparent });
    expect((await storage.jobs.find(id))?.traceparent).to.equal(traceparent);
  });
});

describe('Without an SDK', () => {
  it('jobs are enqueued without a `traceparent`', async () => {
    const storage = new MemoryStorage();
    const client = new JobClient(storage, { middleware: [traceEnqueues()] });
    const handlers = [handleJob(definition, () => 'painted')];
    const job = await whileServing(
      storage,
      'walls',
      handlers,
      async () => jobInState(storage, (await client.enqueue(definition, {})).id, 'done'),
      { middleware: [traceAttempts()] },
    );
    expect([job.traceparent, job.result]).to.deep.equal([null, 'painted']);
  });

  it('an unknown relation is refused', () => {
    expect(() => traceAttempts({ trace: 'parent' as never })).to.throw(
      TypeError,
      "trace must be 'link' or 'child', not \"parent\"",
    );
  });
});
