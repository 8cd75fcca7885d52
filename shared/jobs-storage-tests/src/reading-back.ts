import { defineJob, type EnqueueOptions, type Job, JobClient } from '@longshore/jobs';
import { jobStates, newId } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { before, it } from 'mocha';
import { resolveAll } from './dependent-job.js';
import { type Fixture, newJob, yearMs } from './storage-under-test.js';

const work = defineJob({ name: 'work', timeoutMs: 60_000 });
const runAt = new Date('2100-01-02T03:04:05.678Z');
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const unfinished = ['scheduled', 'awaiting', 'enqueued', 'processing'];

/** An option as it is given, and the members of the job that show it. */
interface Reading<Value> {
  readonly given: Value;
  readonly shown: Partial<Job>;
}

/** How each option of `enqueue` is read; `null` if it is about the call and is not kept. */
type Readings = {
  readonly [Option in keyof Required<EnqueueOptions>]:
    readonly Reading<NonNullable<EnqueueOptions[Option]>>[] | null;
};

/** Defines the tests that whatever a job is enqueued with can be read. */
export function readingBack(fixture: Fixture): void {
  const parents = [newId(), newId(), newId()];
  const readings: Readings = {
    queue: [{ given: 'read-back', shown: { queue: 'read-back' } }],
    priority: [{ given: -7, shown: { priority: -7 } }],
    maxAttempts: [{ given: 3, shown: { maxAttempts: 3 } }],
    timeoutMs: [{ given: 1_234, shown: { timeoutMs: 1_234 } }],
    version: [{ given: 1, shown: { version: 1 } }],
    traceparent: [{ given: traceparent, shown: { traceparent, traceId: 'a'.repeat(32) } }],
    correlate: [{ given: 'order:7', shown: { correlate: 'order:7' } }],
    tags: [{ given: ['a', 'b'], shown: { tags: ['a', 'b'] } }],
    concurrency: [
      { given: { key: 'tenant', limit: 4 }, shown: { concurrencyKey: 'tenant', concurrencyLimit: 4 } },
      {
        given: { key: 'tenant', rate: { jobs: 2, periodMs: 5 } },
        shown: { concurrencyLimit: 10_000, concurrencyRate: { jobs: 2, periodMs: 5, burst: 2 } },
      },
    ],
    unique: [
      {
        given: { key: 'plain' },
        shown: { unique: { key: 'plain', periodMs: null, states: unfinished, onConflict: 'keep' } as never },
      },
      {
        given: { key: 'full', periodMs: 5, states: [...jobStates], onConflict: 'replace' },
        shown: { unique: { key: 'full', periodMs: 5, states: [...jobStates], onConflict: 'replace' } },
      },
    ],
    idempotencyKey: [{ given: 'once', shown: { idempotencyKey: 'once' } }],
    after: [
      { given: { parents }, shown: { parentIds: parents, parentCondition: 'onDone', delayMs: null } },
      { given: { parents, when: 'onAny' }, shown: { parentIds: parents, parentCondition: 'onAny' } },
    ],
    delayMs: [{ given: yearMs, shown: { state: 'scheduled' } }],
    runAt: [{ given: runAt, shown: { runAt, delayMs: null } }],
    visibleQueues: null,
    includeHolder: null,
    transaction: null,
  };

  before(() =>
    fixture.storage.enqueuer.enqueue(
      parents.map((id) => ({ ...newJob('parents'), id, due: { inMs: yearMs } })),
    ),
  );

  for (const [option, values] of Object.entries(readings)) {
    for (const [index, { given, shown }] of ((values ?? []) as readonly Reading<unknown>[]).entries())
      it(`shows the option ${option} (${index + 1})`, async () => {
        const client = new JobClient(fixture.storage);
        const { id } = await client.enqueue(work, {}, { queue: fixture.newQueue(), [option]: given });
        const [listed] = await fixture.storage.jobs.list({ filter: { id: [id] }, limit: 1 });
        expect(await fixture.storage.jobs.find(id)).to.deep.include(shown);
        expect(listed).to.deep.include(shown);
      });
  }

  it('shows the delay of a job that waits for another, and from then on the time at which it ends', async () => {
    const parent = await fixture.claimOne();
    const client = new JobClient(fixture.storage);
    const after = { parents: [parent.claim.jobId] };
    const { id } = await client.enqueue(work, {}, { after, delayMs: yearMs });
    expect(await fixture.storage.jobs.find(id)).to.include({
      state: 'awaiting',
      delayMs: yearMs,
      runAt: null,
    });
    await fixture.storage.completions.complete([
      { claim: parent.claim, outcome: { kind: 'done', result: 'null' } },
    ]);
    await resolveAll(fixture.storage);
    const { state, delayMs, runAt: due } = (await fixture.storage.jobs.find(id)) ?? {};
    expect([state, delayMs, due instanceof Date]).to.deep.equal(['scheduled', null, true]);
  });

  it('shows the unique key of a job whose content another has replaced as it was given first', async () => {
    const client = new JobClient(fixture.storage);
    const queue = fixture.newQueue();
    const first = await client.enqueue(work, {}, { queue, unique: { key: 'k', periodMs: yearMs } });
    const unique = { key: 'k', onConflict: 'replace', periodMs: 1 } as const;
    await client.enqueue(work, {}, { queue, unique, timeoutMs: 5 });
    const { unique: kept, timeoutMs } = (await fixture.storage.jobs.find(first.id)) ?? {};
    expect([kept?.periodMs, kept?.onConflict, timeoutMs]).to.deep.equal([yearMs, 'keep', 5]);
  });
}
