import {
  isFinished,
  isMet,
  type ParentEnd,
  unmetConditionError,
  readyIn,
  outbox,
  type Notification,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import { arrayOf } from '../connection/array-literal.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { DependencyResolver, ResolveOptions } from './outbox-relay.js';
import {
  cancelAwaiting,
  lockAwaiting,
  releaseAwaiting,
  type ReleasedRow,
} from '../jobs/awaiting-jobs.sql.js';
import {
  type DependencyRow,
  findParents,
  lockUnsuccessful,
  openDependencies,
  type ParentRow,
  resolveDependencies,
  unmarkDependencies,
} from '../jobs/dependencies.sql.js';
import { insertEnds, type OutboxRow } from '../jobs/outbox.sql.js';

/** Maximum number of dependencies resolved per transaction, so that transactions stay short. */
const maxDependencies = 5_000;

/**
 * Releases or cancels waiting jobs once their parents (jobs or batches) have ended. To avoid deadlocks, locks the
 * waiting jobs in a fixed order, and only then their dependencies.
 */
export class PostgresContinuations implements DependencyResolver {
  readonly #queues: QueueIdCache;

  constructor(queues: QueueIdCache) {
    this.#queues = queues;
  }

  async resolve(
    client: Connection,
    entries: readonly OutboxRow[],
    { isolate, setAside }: ResolveOptions,
  ): Promise<Set<Notification>> {
    const ends = endsOf(entries);
    const notified = new Set<Notification>();
    if (ends.size === 0) return notified;
    const parents = [...ends.keys()];
    const { rows } = await client.query<DependencyRow>(openDependencies, [arrayOf(parents), maxDependencies]);
    if (rows.length === maxDependencies) await putBack(client, entries);
    const retried = await retriedParents(client, rows, ends);
    const current = retried.size === 0 ? rows : rows.filter(({ parent_id: id }) => !retried.has(id));
    for (const [queueId, dependencies] of byDependentQueue(current)) {
      const released = await isolate(
        byDependent(dependencies),
        (dependents) => resolveGroup(client, queueId, dependents.flat(), ends),
        (ofDependent, error) => {
          const jobId = ofDependent[0]?.child_id ?? '';
          return setAside(
            { key: `job ${jobId}`, queueId, jobId, item: endsFor(ofDependent, entries) },
            error,
          );
        },
      );
      for (const { ready, blocked, waiting } of released) {
        if (ready > 0) notified.add(readyIn(await this.#queues.nameOf(queueId)));
        if (waiting > 0) notified.add({ kind: 'due', inMs: 0 }); // the scheduler reads when
        if (blocked) notified.add(outbox);
      }
    }
    if (retried.size > 0) await client.query(unmarkDependencies, [arrayOf([...retried])]);
    return notified;
  }
}

/**
 * Returns the failed or cancelled parents that have been or are being retried, so that their dependents wait instead of
 * being cancelled. Considers only parents whose end would cancel a dependent. Locks those that have not been retried, so
 * that no retry can start before the transaction ends.
 */
async function retriedParents(
  client: Connection,
  dependencies: readonly DependencyRow[],
  ends: ReadonlyMap<string, ParentEnd>,
): Promise<ReadonlySet<string>> {
  const unmet = new Set<string>();
  for (const { parent_id: id, condition } of dependencies) {
    const end = ends.get(id);
    if ((end === 'failed' || end === 'cancelled') && !isMet(condition, end)) unmet.add(id);
  }
  if (unmet.size === 0) return unmet;
  const { rows: locked } = await client.query<{ id: string; state: ParentEnd | null }>(lockUnsuccessful, [
    arrayOf([...unmet]),
  ]);
  for (const { id, state } of locked) if (state === null || state === ends.get(id)) unmet.delete(id);
  if (unmet.size === 0) return unmet;
  const { rows: parents } = await client.query<ParentRow>(findParents, [arrayOf([...unmet])]);
  return new Set(parents.filter(({ place }) => place !== null).map(({ id }) => id));
}

async function resolveGroup(
  client: Connection,
  queueId: number,
  dependencies: readonly DependencyRow[],
  ends: ReadonlyMap<string, ParentEnd>,
): Promise<ReleasedRow> {
  const errors = new Map<string, string>();
  const met: DependencyRow[] = [];
  for (const dependency of dependencies) {
    const end = ends.get(dependency.parent_id);
    if (end === undefined) continue;
    if (isMet(dependency.condition, end)) met.push(dependency);
    else
      errors.set(
        dependency.child_id,
        JSON.stringify(unmetConditionError(dependency.parent_id, dependency.condition, end)),
      );
  }
  const dependents = [...new Set(dependencies.map((dependency) => dependency.child_id))];
  await client.query(lockAwaiting, [queueId, arrayOf(dependents)]);
  await client.query(resolveDependencies, [
    arrayOf(met.map((dependency) => dependency.parent_id)),
    arrayOf(met.map((dependency) => dependency.child_id)),
    queueId,
  ]);
  if (errors.size > 0) {
    await client.query(cancelAwaiting, [queueId, arrayOf([...errors.keys()]), [...errors.values()]]);
  }
  const candidates = dependents.filter((dependent) => !errors.has(dependent));
  if (candidates.length === 0) return { ready: 0, blocked: false, waiting: 0 };
  const { rows } = await client.query<ReleasedRow>(releaseAwaiting, [queueId, arrayOf(candidates)]);
  return rows[0] ?? { ready: 0, blocked: false, waiting: 0 };
}

/**
 * Puts the rows that report the end of a parent back into the outbox, for the next run. The new rows contain no batches
 * or concurrency keys, because other resolvers process those in this run.
 */
async function putBack(client: Connection, entries: readonly OutboxRow[]): Promise<void> {
  const rest = entries.filter(
    ({ meta, to_state: state }) => meta.hasDependents === true && isFinished(state),
  );
  await client.query(insertEnds, [
    arrayOf(rest.map((entry) => entry.job_id)),
    rest.map((entry) => entry.to_state),
    rest.map((entry) => entry.meta.gone === true),
  ]);
}

function endsOf(entries: readonly OutboxRow[]): Map<string, ParentEnd> {
  const ends = new Map<string, ParentEnd>();
  for (const { job_id: id, to_state: state, meta } of entries) {
    if (meta.hasDependents !== true || !isFinished(state)) continue;
    ends.set(id, meta.gone === true ? 'gone' : state);
  }
  return ends;
}

/** Groups dependencies by waiting job, in ascending order of the job ids. */
function byDependent(dependencies: readonly DependencyRow[]): DependencyRow[][] {
  const groups = new Map<string, DependencyRow[]>();
  for (const dependency of dependencies) {
    const group = groups.get(dependency.child_id);
    if (group === undefined) groups.set(dependency.child_id, [dependency]);
    else group.push(dependency);
  }
  return [...groups].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, group]) => group);
}

/**
 * Returns outbox rows that record the end of these dependencies' parents. The rows contain no batches or concurrency
 * keys, because other resolvers process those in this run.
 */
function endsFor(dependencies: readonly DependencyRow[], entries: readonly OutboxRow[]): OutboxRow[] {
  const parents = new Set(dependencies.map((dependency) => dependency.parent_id));
  return entries
    .filter(({ job_id: id, meta }) => parents.has(id) && meta.hasDependents === true)
    .map(({ job_id, from_state, to_state, meta: { gone } }) => {
      const meta: OutboxRow['meta'] = { hasDependents: true, ...(gone === true && { gone }) };
      return { queue_id: 0, job_id, from_state, to_state, meta };
    });
}

/** Groups dependencies by the waiting job's queue, in ascending order of the queue ids. */
function byDependentQueue(
  dependencies: readonly DependencyRow[],
): [queueId: number, dependencies: DependencyRow[]][] {
  const groups = new Map<number, DependencyRow[]>();
  for (const dependency of dependencies) {
    const group = groups.get(dependency.queue_id);
    if (group === undefined) groups.set(dependency.queue_id, [dependency]);
    else group.push(dependency);
  }
  return [...groups].toSorted(([left], [right]) => left - right);
}
