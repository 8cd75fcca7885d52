import {
  type ContinuationCondition,
  type JobState,
  type JobStorage,
  UnknownParentError,
} from '@longshore/jobs';
import fc from 'fast-check';
import {
  type BulkAction,
  bulkActions,
  type Claim,
  type FinishedState,
  newId,
  type NewJob,
  type Outcome,
  type RetryOptions,
  ServerLostError,
  type ServerRegistration,
} from '@longshore/jobs/storage';
import type { BulkFixture } from './bulk-fixture.js';
import type { Chronicle } from './chronicle.js';
import { error } from './dependent-job.js';
import { type Fixture, moveJob, newJob, yearMs } from './storage-under-test.js';

/** A storage, the queues and servers in it, and what is known about its jobs. */
export interface World {
  readonly fixture: Fixture;
  readonly bulk: BulkFixture;
  readonly storage: JobStorage;
  readonly queues: readonly [string, string];
  readonly servers: ServerRegistration[];
  readonly chronicle: Chronicle;
  /** What an earlier, failed sequence of steps has left behind in the storage. */
  readonly before: ReadonlySet<string>;
}

/** An operation on many jobs. */
interface BulkStep {
  readonly action: BulkAction;
  /** Indexes of jobs. */
  readonly jobs: readonly number[];
  /** The state of the jobs that are deleted. */
  readonly state: FinishedState;
  readonly dependents: boolean;
}

export type Step = (world: World) => Promise<void>;

/** Properties of a new job; indexes choose from what exists then, and wrap around. */
interface Order {
  readonly queue: number;
  readonly maxAttempts: number;
  readonly isLater: boolean;
  readonly concurrencyKey: string | null;
  readonly parents: readonly number[];
  readonly when: ContinuationCondition;
}

function pick<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(items.length, 1)];
}

/** Picks one of the jobs that are in one of these states or, if there is none, any job. Returns its id. */
async function pickIn(
  { storage, queues, chronicle }: World,
  states: readonly JobState[],
  index: number,
): Promise<string> {
  const filter = { queue: [...queues], state: [...states] };
  const jobs = await storage.jobs.list({ filter, limit: 1_000 });
  return pick(jobs, index)?.id ?? pick(chronicle.ids, index) ?? '';
}

function jobOf({ queues, chronicle }: World, order: Order, batchId?: string): NewJob {
  const { queue, maxAttempts, isLater, concurrencyKey, when } = order;
  const parents = [...new Set(order.parents.flatMap((index) => pick(chronicle.parents, index) ?? []))];
  const meta = {
    ...(batchId !== undefined && { batchId }),
    ...(parents.length > 0 && { parentIds: parents }),
    ...(concurrencyKey !== null && { concurrencyKey, concurrencyLimit: 2 }),
  };
  return {
    ...newJob(queues[queue % 2] ?? ''),
    maxAttempts,
    due: isLater ? { inMs: yearMs } : null,
    ...(parents.length > 0 && { after: { parents, when } }),
    meta: Object.keys(meta).length === 0 ? null : meta,
  };
}

/** Returns a handler of errors: nothing was enqueued, because a parent of the jobs has been deleted. */
const refusedBy =
  ({ chronicle }: World, jobs: readonly NewJob[], batchId?: string) =>
  (refusal: unknown): void => {
    if (!(refusal instanceof UnknownParentError)) throw refusal;
    chronicle.refused(jobs, batchId);
  };

const enqueue =
  (order: Order): Step =>
  async (world) => {
    const job = jobOf(world, order);
    world.chronicle.offered([job]);
    await world.storage.enqueuer.enqueue([job]).catch(refusedBy(world, [job]));
  };

const enqueueBatch =
  ({ members, callback }: { members: readonly Order[]; callback: Order }): Step =>
  async (world) => {
    const id = newId();
    const jobs = members.map((order) => jobOf(world, order, id));
    const after = { parents: [id], when: callback.when };
    const last = { ...jobOf(world, { ...callback, parents: [] }), after, meta: { parentIds: [id] } };
    world.chronicle.offeredBatch(id, jobs);
    world.chronicle.offered([last]);
    await world.storage.enqueuer
      .enqueueBatch({ id, name: null, jobs, callback: last })
      .catch(refusedBy(world, [...jobs, last], id));
  };

/** Claims up to `limit` jobs in each queue, and checks that they may start. */
const claim =
  ({ server, limit }: { server: number; limit: number }): Step =>
  async ({ storage, servers, queues, chronicle }) => {
    const serverId = pick(servers, server)?.id;
    if (serverId === undefined) return;
    for (const queue of queues) {
      const forbidden = chronicle.mustNotStart();
      const jobs = await storage.claims
        .claim({ serverId, queue, limit, leaseMs: yearMs })
        .catch((refusal: unknown) => {
          if (refusal instanceof ServerLostError) return []; // the server has died at the same time
          throw refusal;
        });
      chronicle.claims.push(...jobs.map((job) => job.claim));
      for (const { claim: made } of jobs) chronicle.started(made.jobId, forbidden);
    }
  };

/** Picks one of the last claims, which may have ended. */
const pickClaim = ({ claims }: Chronicle, index: number): Claim | undefined => pick(claims.slice(-4), index);

const complete =
  ({ claim: index, outcome }: { claim: number; outcome: Outcome }): Step =>
  async ({ storage, chronicle }) => {
    const made = pickClaim(chronicle, index);
    if (made === undefined) return;
    await storage.completions.complete([{ claim: made, outcome, hasMeta: true }]);
  };

const release =
  (index: number): Step =>
  async ({ storage, chronicle }) => {
    const made = pickClaim(chronicle, index);
    if (made !== undefined) await storage.claims.release([made]);
  };

const cancel =
  (index: number): Step =>
  async (world) => {
    const { storage, chronicle } = world;
    const id = await pickIn(world, ['processing'], index);
    const { outcome } = await storage.control.cancel(id);
    if (outcome === 'ok') chronicle.cancelled(id);
  };

const cancelBatch =
  (index: number): Step =>
  async ({ storage, chronicle }) => {
    const [id, batch] = pick([...chronicle.batches], index) ?? [];
    if (id === undefined || batch === undefined) return;
    const { outcome } = await storage.batches.cancel(id);
    if (outcome === 'ok') for (const member of batch.jobs) chronicle.cancelled(member);
  };

/** Records that all jobs that wait for others may start again: some were restored together with a retried job. */
async function noteRestored({ storage, queues, chronicle }: World): Promise<void> {
  const waiting = await storage.jobs.list({
    filter: { queue: [...queues], state: ['awaiting'] },
    limit: 1_000,
  });
  for (const { id } of waiting) chronicle.retried(id);
}

async function retryJob(world: World, id: string, options: RetryOptions): Promise<void> {
  const { storage, chronicle } = world;
  const result = await storage.control.retry(id, options);
  if (result.outcome !== 'ok' || !result.changed) return;
  chronicle.retried(id);
  if (options.ignoreDependencies === true) chronicle.freed(id);
  if (options.dependents === true) await noteRestored(world);
}

const retry =
  ({ job, dependents, ignore }: { job: number; dependents: boolean; ignore: boolean }): Step =>
  async (world) => {
    const id = await pickIn(world, ['failed', 'cancelled'], job);
    await retryJob(world, id, { dependents, ignoreDependencies: ignore });
  };

/** Retries a job, which then ends before the effects of the retry have been applied. */
const repeat =
  ({ job, dependents, outcome }: { job: number; dependents: boolean; outcome: Outcome }): Step =>
  async (world) => {
    const { storage, chronicle } = world;
    const id = await pickIn(world, ['failed'], job);
    await retryJob(world, id, { dependents });
    await claim({ server: 0, limit: 10 })(world);
    const made = chronicle.claims.findLast(({ jobId }) => jobId === id);
    if (made !== undefined) await storage.completions.complete([{ claim: made, outcome, hasMeta: true }]);
  };

const run =
  (index: number): Step =>
  async (world) => {
    const { storage, chronicle } = world;
    const id = await pickIn(world, ['awaiting', 'scheduled'], index);
    const result = await storage.control.run(id);
    if (result.outcome === 'ok' && result.changed) chronicle.freed(id);
  };

const remove =
  (index: number): Step =>
  async (world) => {
    const { storage, chronicle } = world;
    const id = await pickIn(world, ['done', 'failed', 'cancelled'], index);
    const result = await storage.control.delete(id);
    if (result.outcome === 'ok') chronicle.deleted(id, result.job.state);
  };

const move =
  ({ job, queue }: { job: number; queue: number }): Step =>
  async (world) => {
    const { storage, queues } = world;
    const id = await pickIn(world, ['awaiting', 'scheduled', 'enqueued'], job);
    await moveJob(storage, id, queues[queue % 2] ?? '').catch((refusal: unknown) => {
      const isExpected = refusal instanceof RangeError || String(refusal).includes('There is no job');
      if (!isExpected) throw refusal;
    });
  };

/** Carries out an operation on many jobs; one that deletes, on those in one state, so that it is known what was deleted. */
const operateInBulk =
  ({ action, jobs, state, dependents }: BulkStep): Step =>
  async (world) => {
    const { storage, bulk, chronicle } = world;
    const ids = jobs.flatMap((index) => pick(chronicle.ids, index) ?? []);
    if (ids.length === 0) return;
    const filter = { id: ids, ...(action === 'delete' && { state: [state] }) };
    const time = action === 'reschedule' ? { runAt: new Date(0) } : {};
    const toName = action === 'rename' ? { toName: 'renamed' } : {};
    const { id } = await bulk.carryOut({ action, filter, dependents, ...time, ...toName });
    for (const changed of await storage.bulk.listChanged(id, { limit: 1_000 })) {
      if (action === 'cancel') chronicle.cancelled(changed);
      else if (action === 'retry') chronicle.retried(changed);
      else if (action === 'run') chronicle.freed(changed);
      else if (action === 'delete') chronicle.deleted(changed, state);
    }
    if (action === 'retry' && dependents) await noteRestored(world);
  };

const dieAndRescue =
  (index: number): Step =>
  async ({ fixture, storage, queues, servers }) => {
    const server = pick(servers, index);
    if (server === undefined) return;
    await fixture.silence(server.id);
    const { deadServers } = await storage.maintenance.rescue();
    // Some storages can only silence all servers at once, so several may have died.
    for (const [place, { id }] of [...servers.entries()].toReversed())
      if (deadServers.includes(id)) servers.splice(place, 1);
    if (servers.length === 0) servers.push(await fixture.register(queues[0]));
  };

const outcomes: readonly Outcome[] = [
  { kind: 'done', result: 'null' },
  { kind: 'failed', error },
  { kind: 'failed', error },
  { kind: 'cancelled', error },
  { kind: 'retry', error, delayMs: 0 },
  { kind: 'retry', error, delayMs: yearMs },
  { kind: 'snooze', delayMs: 0 },
];

const index = fc.nat(60);
const order = (maxParents: number): fc.Arbitrary<Order> =>
  fc.record({
    queue: index,
    maxAttempts: fc.integer({ min: 1, max: 3 }),
    isLater: fc.boolean().map((isLater) => isLater && maxParents > 0),
    concurrencyKey: fc.constantFrom(null, null, 'x'),
    parents: fc.array(index, { maxLength: maxParents }),
    when: fc.constantFrom('onDone' as const, 'onDone' as const, 'onFailed' as const, 'onAny' as const),
  });

/** Makes steps that fast-check prints under this name in counterexamples. */
function named<Drawn>(
  weight: number,
  name: string,
  drawn: fc.Arbitrary<Drawn>,
  step: (drawn: Drawn) => Step,
): { weight: number; arbitrary: fc.Arbitrary<Step> } {
  const arbitrary = drawn.map((each) =>
    Object.assign(step(each), { [fc.toStringMethod]: () => `${name} ${fc.stringify(each)}` }),
  );
  return { weight, arbitrary };
}

const single: fc.Arbitrary<Step> = fc.oneof(
  named(4, 'enqueue', order(2), enqueue),
  named(
    3,
    'enqueue a batch',
    fc.record({ members: fc.array(order(1), { minLength: 1, maxLength: 3 }), callback: order(0) }),
    enqueueBatch,
  ),
  named(6, 'claim', fc.record({ server: index, limit: fc.integer({ min: 1, max: 4 }) }), claim),
  named(10, 'complete', fc.record({ claim: index, outcome: fc.constantFrom(...outcomes) }), complete),
  named(1, 'release', index, release),
  named(3, 'cancel', index, cancel),
  named(1, 'cancel a batch', index, cancelBatch),
  named(3, 'retry', fc.record({ job: index, dependents: fc.boolean(), ignore: fc.boolean() }), retry),
  named(
    10,
    'repeat',
    fc.record({
      job: index,
      dependents: fc.constantFrom(true, true, false),
      outcome: fc.constantFrom<Outcome>({ kind: 'failed', error }, { kind: 'failed', error }, ...outcomes),
    }),
    repeat,
  ),
  named(1, 'run', index, run),
  named(1, 'delete', index, remove),
  named(3, 'move', fc.record({ job: index, queue: index }), move),
  named(
    2,
    'in bulk',
    fc.record({
      action: fc.constantFrom(...bulkActions),
      jobs: fc.array(index, { minLength: 1, maxLength: 6 }),
      state: fc.constantFrom<FinishedState>('done', 'failed', 'cancelled'),
      dependents: fc.boolean(),
    }),
    operateInBulk,
  ),
  named(5, 'relay', fc.integer({ min: 1, max: 8 }), (limit) => async ({ storage }) => {
    await storage.maintenance.resolveDependencies(limit);
  }),
  named(2, 'promote', fc.constant(100), (limit) => async ({ storage }) => {
    await storage.maintenance.promoteDue(limit);
  }),
  named(1, 'let a server die', index, dieAndRescue),
);

/** One step, or several at the same time. */
export const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: single },
  {
    weight: 1,
    arbitrary: fc.array(single, { minLength: 2, maxLength: 4 }).map((together) =>
      Object.assign(
        async (world: World) => {
          const ends = await Promise.allSettled(together.map((step) => step(world)));
          for (const end of ends) if (end.status === 'rejected') throw end.reason;
        },
        { [fc.toStringMethod]: () => `at once: ${together.map((step) => fc.stringify(step)).join('; ')}` },
      ),
    ),
  },
);
