import { badAnswers } from '@longshore/test-support';
import { expect } from 'chai';
import * as jobs from '../src/index.js';

const { defineJob, handleJob, JobEvents, JobServer, MemoryStorage } = jobs;

type Call = (...given: unknown[]) => unknown;

const untyped = (method: unknown): Call => method as Call;
const invoke = (target: object, method: string, ...given: unknown[]): unknown =>
  Reflect.apply(Reflect.get(target, method) as Call, target, given);
const created =
  (type: unknown, ...before: unknown[]): Call =>
  (value) =>
    Reflect.construct(type as typeof Object, [...before, value]) as unknown;

const storage = new MemoryStorage();
const report = defineJob({ name: 'report' });
const handlers = [handleJob(report, () => null)];
const events = new JobEvents(storage);
const server = new JobServer({ storage, handlers });
const schedule = { cron: '@daily', timeZone: 'UTC' };
const ended = '00000000-0000-7000-8000-000000000000';

const definition: Readonly<Record<keyof jobs.JobDefinitionOptions<never>, unknown>> = {
  name: 'report',
  args: undefined,
  version: 1,
  upgrade: undefined,
  aliases: [],
  result: undefined,
  queue: 'default',
  priority: 0,
  maxAttempts: 1,
  retryDelay: [0],
  retryOn: [],
  giveUpOn: [],
  timeoutMs: 1,
  concurrency: undefined,
  unique: undefined,
};

const serverOptions: Readonly<Record<keyof jobs.JobServerOptions, unknown>> = {
  storage,
  handlers,
  client: undefined,
  application: 'app',
  recurring: [],
  queueSettings: { mail: { concurrencyLimit: 1 } },
  warningRules: [{ name: 'r', about: { queue: 'mail' }, failing: 0.5 }],
  version: '1',
  queues: ['default'],
  concurrency: 1,
  slidingInvisibilityTimeoutMs: undefined,
  serverTimeoutMs: undefined,
  queuePollIntervalMs: undefined,
  stopTimeoutMs: undefined,
  maxResultBytes: undefined,
  timeoutGraceMs: undefined,
  threads: undefined,
  maxLogLines: undefined,
  maxLogLineBytes: undefined,
  logHandlerLines: undefined,
  middleware: [],
  logger: jobs.silentLogger,
  host: 'host',
};

const calls: readonly (readonly [name: string, call: Call, complete?: object])[] = [
  ['defineJob', untyped(defineJob), definition],
  [
    'defineJob: concurrency',
    (concurrency) => untyped(defineJob)({ ...definition, concurrency }),
    { key: 'a', limit: 1 },
  ],
  [
    'defineJob: unique',
    (unique) => untyped(defineJob)({ ...definition, unique }),
    { key: 'a', periodMs: 1, states: ['enqueued'], onConflict: 'keep' },
  ],
  ['defineRecurringJob', untyped(jobs.defineRecurringJob), { id: 'a', definition: report, ...schedule }],
  ['handleJob: definition', (value) => untyped(handleJob)(value, () => null)],
  [
    'handleJob: run',
    (value) => untyped(handleJob)(report, value),
    { module: new URL('file:///a.js'), thread: true },
  ],
  ['nextOccurrences: schedule', (value) => untyped(jobs.nextOccurrences)(value, 1), schedule],
  [
    'nextOccurrences: interval',
    (value) => untyped(jobs.nextOccurrences)(value, 1),
    { every: '90 s', anchor: new Date(0) },
  ],
  ['nextOccurrences: count', (value) => untyped(jobs.nextOccurrences)(schedule, value)],
  ['nextOccurrences: after', (value) => untyped(jobs.nextOccurrences)(schedule, 1, value)],
  ['JobClient: storage', created(jobs.JobClient)],
  [
    'JobClient: options',
    created(jobs.JobClient, storage),
    { middleware: [], maxArgsBytes: 1, idempotencyPeriodMs: 1 },
  ],
  ['JobEvents: storage', created(JobEvents)],
  ['JobEvents: options', created(JobEvents, storage), { logger: jobs.silentLogger, pollIntervalMs: 1 }],
  ['waitForEnd: job', (value) => invoke(events, 'waitForEnd', value, 0)],
  ['waitForEnd: timeoutMs', (value) => invoke(events, 'waitForEnd', ended, value)],
  ['waitForEnd: signal', (value) => invoke(events, 'waitForEnd', ended, 0, value)],
  ['follow: id', (value) => invoke(events, 'follow', value, null)],
  ['follow: since', (value) => invoke(events, 'follow', ended, value)],
  ['follow: signal', (value) => invoke(events, 'follow', ended, null, value)],
  [
    'listen: filter',
    (value) => invoke(events, 'listen', value, null, AbortSignal.abort()),
    { jobId: ended, kind: [], state: [], queue: [], name: [], tag: [], batchId: [], recurringJobId: [] },
  ],
  ['listen: since', (value) => invoke(events, 'listen', {}, value, AbortSignal.abort())],
  ['JobServer', created(JobServer), serverOptions],
  ['on: name', (value) => invoke(server, 'on', value, () => null)],
  ['on: listener', (value) => invoke(server, 'on', 'done', value)],
  [
    'MemoryStorage',
    created(MemoryStorage),
    { clock: undefined, maxFinished: 1, maxQueues: 1, transaction: undefined, retentionDays: { done: 1 } },
  ],
  ['SnoozeJob', created(jobs.SnoozeJob)],
];

describe('An odd value', () => {
  after(() => events.close());

  for (const [name, call, complete] of calls)
    it(`either works as ${name}, or is refused with what is wanted`, async () => {
      expect(await badAnswers(name, call, { complete })).to.deep.equal([]);
    });
});
