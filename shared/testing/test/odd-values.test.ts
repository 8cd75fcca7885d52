import { defineJob, handleJob, MemoryStorage } from '@longshore/jobs';
import { badAnswers } from '@longshore/test-support';
import { expect } from 'chai';
import * as testing from '../src/index.js';

type Call = (...given: unknown[]) => unknown;

const untyped = (method: unknown): Call => method as Call;
const clockCall =
  (method: 'advance' | 'advanceTo'): Call =>
  (value) =>
    Reflect.apply(Reflect.get(clock, method) as Call, clock, [value]);
const created =
  (type: unknown): Call =>
  (value) =>
    Reflect.construct(type as typeof Object, [value]);

const report = defineJob({ name: 'report' });
const handlers = [handleJob(report, () => null)];
const storage = new MemoryStorage();
const clock = new testing.TestClock();
const filter = { args: {}, queue: 'a', tag: 'a', runAt: new Date(0) };

const calls: readonly (readonly [name: string, call: Call, complete?: object])[] = [
  ['drain: target', (value) => untyped(testing.drain)(value, { handlers })],
  ['drain: options', (value) => untyped(testing.drain)(storage, value), { handlers, timeoutMs: 1_000 }],
  ['enqueuedJobs: storage', (value) => untyped(testing.enqueuedJobs)(value, report)],
  ['enqueuedJobs: definition', (value) => untyped(testing.enqueuedJobs)(storage, value)],
  ['enqueuedJobs: filter', (value) => untyped(testing.enqueuedJobs)(storage, report, value), filter],
  ['refuteEnqueued: filter', (value) => untyped(testing.refuteEnqueued)(storage, report, value), filter],
  ['runJob: handler', untyped(testing.runJob)],
  ['runJob: args', (value) => untyped(testing.runJob)(handlers[0], value)],
  [
    'runJob: options',
    (value) => untyped(testing.runJob)(handlers[0], {}, value),
    {
      signal: new AbortController().signal,
      query: () => null,
      attempt: 1,
      parents: [{ name: 'pick', id: 'a', state: 'done', args: {}, result: null, error: new Error('a') }],
      batch: { name: 'a', id: 'a', jobs: [] },
      earlierErrors: [],
      signals: [{ name: 'a', data: 1, id: 'a', sentBy: 'a' }],
      children: { a: 1, b: new Error('a') },
    },
  ],
  ['TestClock', created(testing.TestClock)],
  ['advance', clockCall('advance')],
  ['advanceTo', clockCall('advanceTo')],
  ['TestJobs', created(testing.TestJobs), { handlers, query: () => null, start: new Date(0) }],
  ['TestTransaction', created(testing.TestTransaction)],
  ['inTestTransaction', untyped(testing.inTestTransaction)],
];

describe('An odd value', () => {
  for (const [name, call, complete] of calls)
    it(`either works as ${name}, or is refused with what is wanted`, async () => {
      expect(await badAnswers(name, call, { complete })).to.deep.equal([]);
    });
});
