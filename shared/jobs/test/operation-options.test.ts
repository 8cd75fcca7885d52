import { expect } from 'chai';
import type { OperableStorage } from '../src/operations/index.js';
import { noFields, operation } from '../src/operations/operation.js';
import { MemoryStorage } from '../src/index.js';
import type { Queue } from '../src/job/job.js';
import type { QueueControlResult } from '../src/storage/queues.js';

/** Each misuse has a `@ts-expect-error`, so the build fails if the compiler does not report it. */
export const misuses = [
  // @ts-expect-error the options of the call are missing
  ({ control }: OperableStorage) => control.cancel('id'),
  // @ts-expect-error options that are built from scratch lack the caller's scope
  ({ control }: OperableStorage) => control.cancel('id', { transaction: undefined }),
  // @ts-expect-error the options of the call are missing after those of the method
  ({ queues }: OperableStorage) => queues.create('mail', { concurrencyLimit: 1 }),
];

describe('The options of a call', () => {
  it('reach the storage with what the caller may see, its reason and its conditions', async () => {
    const seen: unknown[] = [];
    const resume = operation<typeof noFields, Queue, QueueControlResult>({
      on: 'queues',
      name: 'resume',
      summary: 'Resume a queue',
      done: 'resumed',
      role: 'operator',
      fields: noFields,
      change: ({ queues }, { target }, options) => {
        const { visibleQueues, reason, check } = options;
        seen.push({ visibleQueues, reason, isChecked: check !== undefined });
        return queues.resume(target, options);
      },
      facts: () => ({ outcome: 'done' }),
      after: () => null,
    });
    const by = { name: 'ann', via: 'api', visibleQueues: ['mail'] } as const;
    const call = { target: 'mail', fields: {}, by, reason: 'over', check: () => undefined };
    await resume.perform(new MemoryStorage(), call);
    expect(seen).to.deep.equal([{ visibleQueues: ['mail'], reason: 'over', isChecked: true }]);
  });
});
