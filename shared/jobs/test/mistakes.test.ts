import { expect } from 'chai';
import * as jobs from '../src/index.js';

const { defineJob, defineRecurringJob, handleJob, JobClient, JobEvents, JobServer, MemoryStorage } = jobs;

/** A value without its types, because these are the mistakes of programs without types. */
interface Untyped {
  (...given: unknown[]): unknown;
  readonly addOrUpdate: Untyped;
  readonly bulk: Untyped;
  readonly enqueue: Untyped;
  readonly enqueueBatch: Untyped;
  readonly enqueueMany: Untyped;
  readonly find: Untyped;
  readonly jobs: Untyped;
  readonly limit: Untyped;
  readonly list: Untyped;
  readonly listen: Untyped;
  readonly on: Untyped;
  readonly preview: Untyped;
  readonly queues: Untyped;
  readonly recurring: Untyped;
  readonly start: Untyped;
  readonly waitForEnd: Untyped;
}

const untyped = (value: unknown): Untyped => value as Untyped;
const create = (type: unknown, ...given: unknown[]): unknown =>
  Reflect.construct(type as typeof Object, given);

const report = defineJob({ name: 'report' });
const handlers = [handleJob(report, () => null)];
const memory = new MemoryStorage();
const storage = untyped(memory);
const client = untyped(new JobClient(memory));
const events = untyped(new JobEvents(memory));
const server = untyped(new JobServer({ storage: memory, handlers }));
const define = untyped(defineJob);
const defineRecurring = untyped(defineRecurringJob);
const handle = untyped(handleJob);
const next = untyped(jobs.nextOccurrences);
const nightly = { id: 'nightly', definition: report, cron: '@daily' };
const enqueueWith = (options: unknown): unknown => client.enqueue(report, {}, options);

/** Mistaken calls by the public function or class that is called, and what the error says. */
const mistakes: Readonly<Record<string, readonly (readonly [call: () => unknown, message: string])[]>> = {
  defineJob: [
    [() => define(), 'defineJob must be given an object with the options name, args'],
    [() => define('report'), 'not "report"'],
    [() => define({}), 'undefined is not a valid name for a job'],
    [() => define({ name: 7 }), '7 is not a valid name for a job'],
    [() => define({ name: 'a', queue: null }), 'null is not a valid name for a queue'],
    [
      () => define({ name: 'a', retries: 3 }),
      'defineJob has no option "retries". Did you mean "maxAttempts"?',
    ],
    [() => define({ name: 'a', maxAttempt: 3 }), 'Did you mean "maxAttempts"?'],
    [() => define({ name: 'a', timeout: 3 }), 'Did you mean "timeoutMs"?'],
    [() => define({ name: 'a', schema: {} }), 'Did you mean "args"?'],
    [() => define({ name: 'a', retryDelay: 500 }), 'such as [500], or a function, not 500'],
    [() => define({ name: 'a', retryDelay: ['1s'] }), 'not ["1s"]'],
    [
      () => define({ name: 'a', retryOn: TypeError }),
      'retryOn must be a list of error classes, not a function',
    ],
    [() => define({ name: 'a', unique: { keys: 'x' } }), 'Did you mean "key"?'],
    [() => define({ name: 'a', unique: 'x' }), 'not "x"'],
    [() => define({ name: 'a', unique: new Map([['key', 'x']]) }), 'not an instance of Map'],
    [() => define({ name: 'a', args: new Map() }), 'is not a schema'],
    [() => define({ name: 'a', unique: { states: 'done' } }), 'unique.states must be a list of states'],
    [() => define({ name: 'a', concurrency: 3 }), 'not 3'],
    [() => define({ name: 'a', concurrency: { limit: 3 } }), 'A concurrency key must be a string'],
    [
      () => define({ name: 'a', concurrency: { key: 'x', max: 3 } }),
      'has no option "max". The options are key, limit',
    ],
  ],
  defineRecurringJob: [
    [() => defineRecurring(), 'defineRecurringJob must be given an object'],
    [
      () => defineRecurring({ ...nightly, cron: undefined }),
      'A schedule needs cron, such as "30 2 * * *" for 02:30 every night, or every, such as "90 s"',
    ],
    [() => defineRecurring({ ...nightly, cron: 7 }), 'cron must be a cron expression such as "30 2 * * *"'],
    [() => defineRecurring({ ...nightly, every: '90 s' }), 'A schedule has cron or every, not both'],
    [() => defineRecurring({ ...nightly, anchor: new Date(0) }), 'anchor belongs to every'],
    [() => defineRecurring({ ...nightly, interval: '90 s' }), 'Did you mean "every"?'],
    [() => defineRecurring({ ...nightly, pattern: '@daily' }), 'Did you mean "cron"?'],
    [() => defineRecurring({ ...nightly, tz: 'UTC' }), 'Did you mean "timeZone"?'],
    [() => defineRecurring({ ...nightly, timezone: 'UTC' }), 'Did you mean "timeZone"?'],
    [() => defineRecurring({ ...nightly, timeZone: 7 }), '7 is not a time zone'],
    [
      () => defineRecurring({ ...nightly, id: undefined }),
      'undefined is not a valid name for a recurring job',
    ],
    [() => defineRecurring({ ...nightly, definition: 'report' }), 'needs a job definition'],
    [
      () => defineRecurring({ ...nightly, misfire: 'never' }),
      'misfire must be one of skip, once, all, not "never"',
    ],
    [
      () => defineRecurring({ ...nightly, overlap: false }),
      'overlap must be one of allow, skip, wait, not false',
    ],
  ],
  handleJob: [
    [() => handle(report), 'handleJob needs the function that runs the job "report"'],
    [() => handle('report', () => null), 'handleJob needs a job definition, the result of defineJob'],
    [() => handle(() => null, report), 'not a function'],
    [() => handle(report, { module: './run.js', thread: true }), 'must be given as a URL'],
    [() => handle(report, { file: './run.js' }), 'has no option "file"'],
    [() => handle(report, JobServer), 'as its second parameter, not a class'],
  ],
  nextOccurrences: [
    [() => next('@daily', 1), 'not "@daily"'],
    [() => next({ cron: '@daily' }), 'count must be an integer from 1 to 1000, not undefined'],
    [() => next({ cron: '@daily' }, 1, '2026-01-01'), 'after must be a Date, not a string'],
    [() => next({ cron: '@daily' }, 1, new Date(NaN)), 'not an invalid Date'],
  ],
  JobClient: [
    [() => create(JobClient), 'JobClient needs a storage, such as new PostgresStorage({ url })'],
    [() => create(JobClient, 'postgres://localhost/app'), 'not "postgres://localhost/app"'],
    [() => create(JobClient, storage, { maxArgBytes: 1 }), 'Did you mean "maxArgsBytes"?'],
    [
      () => create(JobClient, storage, { middleware: () => null }),
      'middleware must be a list of functions, not a function',
    ],
    [
      () => client.enqueue('report', {}),
      'enqueue needs a job definition, the result of defineJob({ name: … }), not "report"',
    ],
    [() => client.enqueue(), 'not undefined'],
    [() => client.enqueue(handlers[0]), 'not a handler: pass its definition'],
    [() => enqueueWith({ delay: 5_000 }), 'enqueue has no option "delay". Did you mean "delayMs"?'],
    [() => enqueueWith({ retries: 3 }), 'Did you mean "maxAttempts"?'],
    [() => enqueueWith({ prioirty: 3 }), 'Did you mean "priority"?'],
    [() => enqueueWith({ zzz: 3 }), 'The options are queue, priority'],
    [() => enqueueWith({ constructor: 3 }), 'has no option "constructor"'],
    [() => enqueueWith(5_000), 'not 5000'],
    [() => enqueueWith(null), 'not null'],
    [() => enqueueWith({ tags: 'urgent' }), 'tags must be a list'],
    [() => enqueueWith({ tags: [7] }), 'A tag must be a string of 1 to 100 characters, without NUL, not 7'],
    [() => enqueueWith({ unique: { key: 'x', ttl: 3 } }), 'enqueue: unique has no option "ttl"'],
    [() => enqueueWith({ unique: true }), 'not true'],
    [() => enqueueWith({ concurrency: { key: 'x', limits: 3 } }), 'Did you mean "limit"?'],
    [
      () => enqueueWith({ after: ['id'] }),
      'enqueue: after must be given an object with the options parents, when, not a list',
    ],
    [() => enqueueWith({ after: { parents: 'id' } }), 'after.parents must be a list of ids'],
    [() => enqueueWith({ after: { parents: [null] } }), 'after.parents: null is not the id of a job'],
    [() => enqueueWith(new Map([['delayMs', 5_000]])), 'not an instance of Map'],
    [() => enqueueWith(new Error('no')), 'not an instance of Error'],
    [() => enqueueWith(Object(5_000)), 'not an instance of Number'],
    [() => enqueueWith({ runAt: '2026-01-01' }), 'runAt must be a Date, not a string'],
    [() => client.enqueueMany(report), 'enqueueMany must be given a list of jobs'],
    [() => client.enqueueMany([report]), 'enqueueMany has no option "name"'],
    [() => client.enqueueMany([{ definition: 'report' }]), 'enqueueMany needs a job definition'],
    [() => client.enqueueMany([{ definition: report, data: {} }]), 'Did you mean "args"?'],
    [() => client.enqueueMany([{ definition: report, options: { delay: 1 } }]), 'Did you mean "delayMs"?'],
    [() => client.enqueueBatch([]), 'not a list'],
    [() => client.enqueueBatch({}), 'enqueueBatch: jobs must be given a list of jobs'],
    [() => client.enqueueBatch({ jobs: [], onDone: report }), 'enqueueBatch has no option "onDone"'],
    [
      () => client.enqueueBatch({ jobs: [], callback: report }),
      'enqueueBatch: callback has no option "name"',
    ],
    [() => client.enqueueBatch({ jobs: [], callbackWhen: 'done' }), 'not "done"'],
    [() => client.find('report', 'id'), 'find needs a job definition'],
    [() => client.recurring.addOrUpdate({ ...nightly, cron: null }), 'A schedule needs cron'],
    [() => client.recurring.preview('@daily', 1), 'not "@daily"'],
  ],
  JobEvents: [
    [() => create(JobEvents), 'JobEvents needs a storage'],
    [() => create(JobEvents, storage, { pollMs: 5 }), 'has no option "pollMs"'],
    [() => events.waitForEnd(undefined, 5), 'waitForEnd needs the result of enqueue'],
    [
      () => events.listen({ queues: ['a'] }, null),
      'A filter of events has no option "queues". Did you mean "queue"?',
    ],
  ],
  JobServer: [
    [() => create(JobServer), 'JobServer must be given an object'],
    [() => create(JobServer, { handlers }), 'JobServer needs a storage'],
    [() => create(JobServer, { storage }), 'JobServer: handlers must be a list of handlers'],
    [() => create(JobServer, { storage, handlers: [report] }), 'not an object at index 0'],
    [() => create(JobServer, { storage, handlers: [() => null] }), 'not a function at index 0'],
    [() => create(JobServer, { storage, handlers, concurency: 3 }), 'Did you mean "concurrency"?'],
    [() => create(JobServer, { storage, handlers, concurrency: '3' }), 'not "3"'],
    [() => create(JobServer, { storage, handlers, queues: 'default' }), 'queues must be a list of names'],
    [() => create(JobServer, { storage, handlers, queues: { default: '1' } }), 'not "1"'],
    [() => create(JobServer, { storage, handlers, middleware: [{}] }), 'not an object at index 0'],
    [() => create(JobServer, { storage, handlers, version: 7 }), 'version must be a string'],
    [
      () => create(JobServer, { storage, handlers, application: 'a', recurring: [nightly] }),
      'recurring must be a list of recurring jobs, such as [defineRecurringJob',
    ],
    [() => server.on('finished', () => null), 'A job server has no event "finished". The events are started'],
    [() => server.on('complete', () => null), 'The events are started, done'],
    [() => server.on('retry', () => null), 'Did you mean "retrying"?'],
    [() => server.on('done'), 'The listener of "done" must be a function, not undefined'],
  ],
  MemoryStorage: [
    [() => create(MemoryStorage, { maxFinish: 1 }), 'Did you mean "maxFinished"?'],
    [
      () => create(MemoryStorage, { retentionDays: { complete: 1 } }),
      'retentionDays has no option "complete"',
    ],
    [() => create(MemoryStorage, { retentionDays: 7 }), 'not 7'],
    [
      () => storage.jobs.list({ filter: { quene: ['a'] }, limit: 1 }),
      'A filter of jobs has no option "quene". Did you mean "queue"?',
    ],
    [() => storage.bulk.start({ action: 'delete', filter: { states: ['done'] } }), 'Did you mean "state"?'],
    [() => storage.queues.limit('default', { concurrency: 1 }), 'Did you mean "concurrencyLimit"?'],
    [() => storage.queues.limit('default', { rateLimit: { job: 1 } }), 'Did you mean "jobs"?'],
  ],
  runOnce: [
    [() => untyped(jobs.runOnce)(), 'runOnce must be given an object with the options'],
    [
      () => untyped(jobs.runOnce)({ storage: memory, handlers, timeout: 7 }),
      'runOnce has no option "timeout"',
    ],
    [
      () => untyped(jobs.runOnce)({ storage: memory, handlers, signal: 7 }),
      'signal must be an AbortSignal, not 7',
    ],
    [() => untyped(jobs.runOnce)({ storage: memory }), 'JobServer: handlers must be a list of handlers'],
  ],
  stopOnSignals: [
    [() => untyped(jobs.stopOnSignals)(), 'stopOnSignals: steps must be a list, not undefined'],
    [() => untyped(jobs.stopOnSignals)([server]), 'stopOnSignals: steps'],
  ],
};

/** Exported classes that applications receive or throw, or get from a client. */
const others = new Set(['RecurringClient', 'silentLogger']);

describe('A mistaken call', () => {
  it('is tested for every exported function and class except errors', () => {
    const callable = Object.entries<unknown>(jobs)
      .filter(([, value]) => typeof value === 'function' && !(value.prototype instanceof Error))
      .map(([name]) => name);
    expect(callable.filter((name) => !others.has(name))).to.have.members(Object.keys(mistakes));
  });

  for (const [name, calls] of Object.entries(mistakes)) {
    for (const [call, message] of calls) {
      it(`of ${name} is answered with: ${message}`, async () => {
        const thrown = await Promise.resolve()
          .then(call)
          .then(() => null)
          .catch((error: unknown) => error);
        expect(thrown).to.be.instanceOf(Error);
        expect((thrown as Error).message).to.contain(message);
        expect(thrown).to.satisfy(
          (error: Error) => error instanceof TypeError || error instanceof RangeError,
        );
      });
    }
  }
});
