import {
  defineJob,
  type EnqueueOptions,
  JobClient,
  type JobDefinition,
  type RecurringJobOptions,
} from '@longshore/jobs';
import { documentedCalls, newId } from '@longshore/jobs/storage';
import { badAnswers } from '@longshore/test-support';
import { expect } from 'chai';
import { it } from 'mocha';
import { type Fixture, hourMs } from './storage-under-test.js';

type Call = (...given: unknown[]) => unknown;

/** Valid arguments of documented calls, for the parameters before the one with an odd value. */
const valid: Readonly<Record<string, unknown>> = {
  runAt: new Date('2040-01-01T00:00:00Z'),
  toName: 'new',
  limits: { concurrencyLimit: 1 },
  request: { action: 'run', filter: { name: ['nothing'] }, delayMs: hourMs },
};

/** Objects that are complete, to give one of their members an odd value. */
const complete: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'jobs.list: query': { limit: 1, filter: {}, order: 'newest', offset: 0, after: newId() },
  'jobs.search: query': { limit: 1, filter: { q: 'a' }, maxBytes: 1_000, order: 'newest', after: newId() },
  'jobs.listLatestFailed: query': { limit: 1, queue: 'a', after: { id: newId(), failedAt: new Date(0) } },
  'jobs.listContinuations: page': { limit: 1, after: newId(), documents: false },
  'jobs.count: filter': filterOf(),
  'control.cancel: options': { reason: 'a', transaction: undefined, audit: undefined, check: undefined },
  'control.retry: options': {
    dependents: true,
    visibleQueues: [],
    ignoreDependencies: false,
    content: { queue: 'a', priority: 1, args: '{}' },
  },
  'queues.pause: options': { by: 'a', reason: 'a', until: null, seen: undefined, audit: undefined },
  'queues.resume: options': {
    seen: {
      pausedAt: null,
      pausedBy: null,
      pauseReason: null,
      pausedUntil: null,
      concurrencyLimit: 1,
      rateLimit: null,
    },
  },
  'queues.limit: limits': { concurrencyLimit: 1, rateLimit: null },
  'batches.list: query': { limit: 1, after: newId(), order: 'oldest', offset: 0 },
  'bulk.start: request': {
    ...(valid['request'] as object),
    requestedBy: 'a',
    reason: 'a',
    runAt: null,
    toName: null,
    confirmed: undefined,
    dependents: false,
    visibleQueues: null,
  },
  'bulk.list: query': { limit: 1, after: newId(), order: 'oldest', offset: 0 },
  'bulk.listChanged: query': { limit: 1, after: newId() },
  'reports.listLogs: query': { attempt: 1, after: '1', limit: 1, offset: 0 },
  'statistics.listErrorGroups: query': { sinceMs: 1_000, limit: 1 },
  'statistics.throughput: query': { sinceMs: 10_000, bucketMs: 10_000, queue: undefined },
  'timings.read: query': { from: new Date(0), until: new Date(1), bucketMs: 60_000, queue: 'a', name: 'a' },
  'timings.listNames: query': { sinceMs: 1_000, limit: 1, queue: 'a' },
  'timings.readHistories: query': { names: ['a'], queue: 'a' },
};

/** Returns a filter with every member. */
function filterOf(): Readonly<Record<string, unknown>> {
  const lists = ['id', 'state', 'queue', 'name', 'tag', 'recurringJobId', 'batchId', 'concurrencyKey'];
  const others = ['parentId', 'enqueuedBy', 'serverId', 'args', 'error', 'errorFingerprint'];
  const times = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'];
  return {
    ...Object.fromEntries([...lists, ...others].map((name) => [name, []])),
    ...Object.fromEntries(times.map((name) => [name, new Date(0)])),
    q: 'a',
    redact: 'a',
  };
}

/** Defines the tests that what the documentation shows to applications refuses odd values before it does anything. */
export function refusingArguments(fixture: Fixture): void {
  const report = defineJob({ name: 'report' });

  /** What calls could change. */
  const contents = async (): Promise<unknown> => {
    const { queues, bulk, jobs, recurring, batches } = fixture.storage;
    const listed = await queues.list();
    return [
      listed.map(({ name, pausedAt, concurrencyLimit }) => [name, pausedAt, concurrencyLimit]),
      await Promise.all([bulk.count(), jobs.stateCounts(), recurring.count(), batches.count()]),
    ];
  };

  for (const [role, methods] of Object.entries(documentedCalls)) {
    const writes = ['control', 'queues', 'batches', 'bulk', 'recurring'].includes(role);

    it(`the documented methods of ${role} state what they were given, and change nothing`, async () => {
      const bad: string[] = [];
      const target = fixture.storage[role as keyof typeof documentedCalls] as unknown as Record<string, Call>;
      for (const [method, parameters] of Object.entries<object>(methods)) {
        const names = Object.keys(parameters);
        for (const [index, parameter] of names.entries()) {
          const name = `${role}.${method}: ${parameter}`;
          const before = names.slice(0, index).map((each) => valid[each] ?? newId());
          const call: Call = (value) => target[method]?.(...before, value);
          const context = { complete: complete[name], contents: writes ? contents : undefined };
          bad.push(...(await badAnswers(name, call, context)));
        }
      }
      expect(bad).to.deep.equal([]);
    });
  }

  it('a client states what it was given, and enqueues nothing', async () => {
    const client = new JobClient(fixture.storage);
    const untyped =
      (method: string, target: object = client): Call =>
      (...given) =>
        Reflect.apply(Reflect.get(target, method) as Call, target, given);
    const enqueue = untyped('enqueue');
    const enqueueMany = untyped('enqueueMany');
    const enqueueBatch = untyped('enqueueBatch');
    const find = untyped('find');
    const addOrUpdate = untyped('addOrUpdate', client.recurring);
    const request = { definition: report, args: {}, options: { queue: 'word' } };
    const calls: readonly (readonly [name: string, call: Call, complete?: object])[] = [
      ['enqueue: definition', (value) => enqueue(value, {})],
      ['enqueue: args', (value) => enqueue(report, value)],
      ['enqueue: options', (value) => enqueue(report, {}, value), completeOptions],
      ['enqueueMany: requests', enqueueMany],
      ['enqueueMany: request', (value) => enqueueMany([value]), request],
      ['enqueueMany: transaction', (value) => enqueueMany([request], value)],
      [
        'enqueueBatch: request',
        enqueueBatch,
        { name: 'a', jobs: [request], callback: request, callbackWhen: 'onAny' },
      ],
      ['enqueueBatch: transaction', (value) => enqueueBatch({ jobs: [request] }, value)],
      ['find: definition', (value) => find(value, newId())],
      ['find: id', (value) => find(report, value)],
      ['recurring.addOrUpdate: options', addOrUpdate, nightly(report)],
    ];
    const bad: string[] = [];
    for (const [name, call, object] of calls)
      bad.push(...(await badAnswers(name, call, { complete: object, contents })));
    expect(bad).to.deep.equal([]);
  });
}

/** Every option of `enqueue`. */
const completeOptions: Readonly<Record<keyof EnqueueOptions, unknown>> = {
  queue: 'word',
  priority: 1,
  maxAttempts: 1,
  timeoutMs: 1,
  version: 1,
  traceparent: undefined,
  correlate: undefined,
  tags: [],
  concurrency: null,
  unique: null,
  idempotencyKey: undefined,
  after: undefined,
  visibleQueues: [],
  includeHolder: false,
  delayMs: undefined,
  runAt: undefined,
  transaction: undefined,
};

/** Returns every option of a recurring job. */
function nightly(definition: JobDefinition): Readonly<Record<keyof RecurringJobOptions, unknown>> {
  return {
    id: 'nightly',
    definition,
    args: {},
    version: 1,
    cron: '@yearly',
    timeZone: 'UTC',
    every: null,
    anchor: null,
    misfire: 'skip',
    misfireLimit: 1,
    overlap: 'allow',
    maxBacklog: null,
    queue: 'word',
    priority: 1,
    maxAttempts: 1,
    timeoutMs: null,
    tags: [],
    concurrency: null,
    unique: null,
  };
}
