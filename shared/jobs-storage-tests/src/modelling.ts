import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import fc from 'fast-check';
import { it } from 'mocha';
import { DuplicateJobError, type JobStorage } from '@longshore/jobs';
import {
  type Claim,
  type ControlResult,
  type Outcome,
  type ServerRegistration,
  uniqueKey,
} from '@longshore/jobs/storage';
import { concurrencyLimit, Model, type ModelEnqueueRequest, type ModelResult } from './model.js';
import { expectSame } from './model-comparison.js';
import { type Fixture, newJob, propertyRuns, yearMs } from './storage-under-test.js';

const error = { name: 'Error', message: 'no', stack: null };

/**
 * The storage to compare with the model, its live servers, the ids of all jobs, and all claims ever made (valid or
 * not).
 */
interface SystemUnderTest {
  readonly fixture: Fixture;
  readonly storage: JobStorage;
  readonly queue: string;
  readonly ids: string[];
  readonly claims: Claim[];
  readonly servers: ServerRegistration[];
}

type Step = (model: Model, real: SystemUnderTest) => Promise<void>;

const outcomes: readonly Outcome[] = [
  { kind: 'done', result: 'null' },
  { kind: 'failed', error },
  { kind: 'cancelled', error },
  { kind: 'retry', error, delayMs: yearMs },
  { kind: 'snooze', delayMs: yearMs },
  { kind: 'suspend', until: new Date(Date.now() + yearMs), awaits: { packed: 1 }, cancels: [] },
];

/** Picks an item by an index from fast-check. The index wraps around at the end of the list. */
function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(items.length, 1)];
}

const enqueue =
  (order: ModelEnqueueRequest): Step =>
  async (model, { storage, queue, ids }) => {
    const { priority, maxAttempts, due, unique, concurrencyKey } = order;
    const plain = newJob(queue);
    const job = {
      ...plain,
      priority,
      maxAttempts,
      due: due === 'now' ? null : { inMs: yearMs },
      keys: unique === null ? null : [uniqueKey(plain.name, unique)],
      meta: concurrencyKey === null ? null : { concurrencyKey, concurrencyLimit },
    };
    const answer = await storage.enqueuer.enqueue([job]).then(
      ({ holders }) => holders.get(job.id) ?? job.id,
      (failure: unknown) => {
        if (failure instanceof DuplicateJobError) return 'rejected';
        throw failure;
      },
    );
    expect(answer).to.equal(model.enqueue(job.id, order));
    if (answer === job.id) ids.push(job.id);
  };

const claim =
  ({ server: serverIndex, limit }: { server: number; limit: number }): Step =>
  async (model, { storage, queue, servers, claims }) => {
    const server = pick(servers, serverIndex);
    if (server === undefined) return;
    const ready = model.ready();
    // A storage may miss a job that has just become ready, but not for long.
    const jobs = await eventually(
      async () => {
        await storage.maintenance.resolveDependencies(100);
        return storage.claims.claim({ serverId: server.id, queue, limit, leaseMs: yearMs });
      },
      (found) => found.length > 0 || ready === 0,
    );
    expect(jobs.length).to.be.at.most(Math.min(limit, ready));
    for (const job of jobs) {
      expect(model.jobs.get(job.claim.jobId)?.state).to.equal('enqueued');
      model.claimed(job.claim);
      expect(job.claim.attempt).to.equal(model.jobs.get(job.claim.jobId)?.attempt);
      claims.push(job.claim);
    }
  };

/**
 * Writes with one of the claims made so far. A claim that is no longer valid must change nothing, and a valid claim
 * must not be reported as invalid.
 */
const withClaim =
  (
    claimIndex: number,
    write: (storage: JobStorage, claim: Claim) => Promise<Claim[]>,
    change: (model: Model, claim: Claim) => void,
  ): Step =>
  async (model, { storage, claims }) => {
    const drawn = pick(claims, claimIndex);
    if (drawn === undefined) return;
    const held = model.isCurrent(drawn);
    const stale = await write(storage, drawn);
    if (held) change(model, drawn);
    // The result for an invalid claim is not checked, because a storage may accept a repeated completion: the response
    // to the first one could have been lost.
    if (held) expect(stale).to.deep.equal([]);
  };

const control =
  (
    idIndex: number,
    act: (storage: JobStorage, id: string) => Promise<ControlResult>,
    expected: (model: Model, id: string) => ModelResult,
  ): Step =>
  async (model, { storage, ids }) => {
    const id = pick(ids, idIndex);
    if (id === undefined) return;
    const result = await act(storage, id);
    const answer = result.outcome === 'ok' ? (result.changed ? 'changed' : 'unchanged') : result.outcome;
    expect(answer).to.equal(expected(model, id));
  };

const dieAndRescue =
  (serverIndex: number): Step =>
  async (model, { fixture, storage, queue, servers }) => {
    const server = pick(servers, serverIndex);
    if (server === undefined) return;
    await fixture.silence(server.id);
    const { deadServers } = await storage.maintenance.rescue();
    for (const dead of deadServers) model.serverDied(dead);
    // Some storages can only silence all servers at once, so several may have died.
    for (const [place, { id }] of [...servers.entries()].toReversed())
      if (deadServers.includes(id)) servers.splice(place, 1);
    if (servers.length === 0) servers.push(await fixture.register(queue));
  };

const setPaused =
  (paused: boolean): Step =>
  async (model, { storage, queue }) => {
    await (paused ? storage.queues.pause(queue) : storage.queues.resume(queue));
    model.paused = paused;
  };

/** Generates steps that fast-check prints under this name in counterexamples. */
function named<Drawn>(
  arbitrary: fc.Arbitrary<Drawn>,
  name: string,
  step: (drawn: Drawn) => Step,
): fc.Arbitrary<Step> {
  return arbitrary.map((drawn) =>
    Object.assign(step(drawn), { [fc.toStringMethod]: () => `${name} ${fc.stringify(drawn)}` }),
  );
}

const index = fc.nat(50);
const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: named(
      fc.record({
        priority: fc.integer({ min: -2, max: 2 }),
        maxAttempts: fc.integer({ min: 1, max: 3 }),
        due: fc.constantFrom('now' as const, 'now' as const, 'later' as const),
        unique: fc.option(
          fc.record({
            key: fc.constantFrom('a', 'b'),
            onConflict: fc.constantFrom('keep' as const, 'replace' as const, 'reject' as const),
          }),
        ),
        concurrencyKey: fc.option(fc.constantFrom('x', 'y')),
      }),
      'enqueue',
      enqueue,
    ),
  },
  {
    weight: 6,
    arbitrary: named(fc.record({ server: index, limit: fc.integer({ min: 1, max: 4 }) }), 'claim', claim),
  },
  {
    weight: 8,
    arbitrary: named(
      fc.record({ claim: index, outcome: fc.constantFrom(...outcomes), hasMeta: fc.boolean() }),
      'complete',
      ({ claim: drawn, outcome, hasMeta }) =>
        withClaim(
          drawn,
          (storage, held) => storage.completions.complete([{ claim: held, outcome, hasMeta }]),
          (model, held) => model.complete(held, outcome),
        ),
    ),
  },
  {
    weight: 2,
    arbitrary: named(index, 'release', (drawn) =>
      withClaim(
        drawn,
        (storage, held) => storage.claims.release([held]),
        (model, held) => model.release(held),
      ),
    ),
  },
  {
    weight: 1,
    arbitrary: named(index, 'renew', (drawn) =>
      withClaim(
        drawn,
        (storage, held) => storage.claims.renew([held], yearMs),
        () => undefined,
      ),
    ),
  },
  ...(['cancel', 'retry', 'run', 'delete'] as const).map((verb) => ({
    weight: 2,
    arbitrary: named(index, verb, (drawn) =>
      control(
        drawn,
        (storage, id) => storage.control[verb](id),
        (model, id) => model[verb](id),
      ),
    ),
  })),
  { weight: 1, arbitrary: named(index, 'let a server die', dieAndRescue) },
  { weight: 1, arbitrary: named(fc.boolean(), 'pause', setPaused) },
);

/**
 * Defines a test that runs random sequences of actions by clients, servers and operators. Compares the storage with a
 * model after each step.
 */
export function modelling(fixture: Fixture): void {
  it('is in the same state as the model after every step', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 5, maxLength: 40 }), async (drawn) => {
        const queue = fixture.newQueue();
        const servers = [await fixture.register(queue), await fixture.register(queue)];
        const real: SystemUnderTest = {
          fixture,
          storage: fixture.storage,
          queue,
          ids: [],
          claims: [],
          servers,
        };
        const model = new Model();
        for (const step of drawn) {
          await step(model, real);
          await expectSame(model, real.storage, real.queue);
        }
        await Promise.all(servers.map((server) => server.unregister()));
      }),
      propertyRuns,
    );
  });
}
