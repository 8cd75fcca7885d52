import type { Job, JobState } from '@longshore/jobs';
import {
  checkIncluded,
  type EnqueueResult,
  type Holders,
  holdersToInclude,
  isFinished,
  type JobKey,
  KeyHeldError,
  type KeyHolder,
  keyName,
  type KeyResolution,
  type NewJob,
  noIncludedHolders,
  resolveKeys,
} from '@longshore/jobs/storage';
import { arrayOf, byQueue } from '../connection/array-literal.js';
import type { QueueIds } from '../queues/queue-id-cache.js';
import { findJobs } from '../jobs/job-documents.js';
import { findRowOn, type JobRow, toJob } from '../jobs/job-row.js';
import type { Run } from '../connection/run.js';
import { replacement } from './replace-jobs.sql.js';
import { claimUnique, type HolderRow, type KeyRow, lockUnique, selectHolders } from './unique-keys.sql.js';

interface WantedKey {
  readonly queue: string;
  readonly key: JobKey;
  /** The job that should hold the key. */
  readonly jobId: string;
}

/** A key that is locked until the transaction ends. */
interface LockedKey {
  readonly wanted: WantedKey;
  readonly row: KeyRow;
  /** Whether the key did not exist before and has just been stored for the new job. */
  readonly fresh: boolean;
}

type LockedKeys = ReadonlyMap<string, LockedKey>;

/** The state and queue of a job that holds a key. If the job was moved, its queue can differ from the key's. */
interface HolderLocation {
  readonly state: JobState;
  readonly queueId: number;
}

type HolderPlaces = ReadonlyMap<string, HolderLocation>;

/** Claims unique keys, in the transaction that creates the jobs. */
export class UniqueKeys {
  readonly #queues: QueueIds;

  /** @param queues the queues that the transaction sees */
  constructor(queues: QueueIds) {
    this.#queues = queues;
  }

  /**
   * Claims the keys of jobs to be created, and replaces the content of existing holders where requested. The queues'
   * ids must be cached, so that no other connection is needed.
   *
   * @throws {DuplicateJobError} if another job holds a key and the request asks to reject duplicates
   * @throws {IdempotencyConflictError} if an idempotency key was used for a different request
   */
  async resolve(jobs: readonly NewJob[], run: Run): Promise<KeyResolution> {
    const locked = await this.#lock(jobs, run);
    for (;;) {
      const places = await this.#placesOf(locked, run);
      const resolution = await this.#resolved(jobs, run, (queue, key) =>
        holderOf(locked.get(keyName(queue, key)), places),
      );
      if (!(await this.#replace(resolution.replacements, places, run))) continue; // starts over: a holder has changed
      await this.#claim(resolution.claims, locked, run);
      return resolution;
    }
  }

  /**
   * Reads the jobs that already hold keys of new jobs, if the result of enqueueing must include them.
   *
   * @throws {KeyHolderHiddenError} if one of these jobs was deleted or is invisible to the caller
   */
  async included(
    jobs: readonly NewJob[],
    holders: Holders,
    run: Run,
  ): Promise<EnqueueResult['includedHolders']> {
    const ids = holdersToInclude(jobs, holders);
    if (ids.length === 0) return noIncludedHolders;
    const found = new Map<string, Job>();
    for (const row of (await run(findJobs, [arrayOf(ids)])) as JobRow[])
      found.set(row.id, toJob(row, await this.#queues.nameOf(row.queue_id)));
    checkIncluded(jobs, holders, (id) => found.get(id));
    return found;
  }

  async #resolved(
    jobs: readonly NewJob[],
    run: Run,
    holder: Parameters<typeof resolveKeys>[1],
  ): Promise<KeyResolution> {
    try {
      return resolveKeys(jobs, holder);
    } catch (error) {
      if (!(error instanceof KeyHeldError)) throw error;
      const { holderId } = error;
      const newHolder = jobs.find(({ id }) => id === holderId);
      const row = newHolder === undefined ? await findRowOn(run, holderId) : undefined;
      throw error.toCaller(newHolder?.queue ?? (row && (await this.#queues.nameOf(row.queue_id))));
    }
  }

  /**
   * Locks the jobs' keys, ordered by queue id and key. To avoid deadlocks, all code that locks keys uses this order.
   */
  async #lock(jobs: readonly NewJob[], run: Run): Promise<LockedKeys> {
    const locked = new Map<string, LockedKey>();
    for (const [queueId, queue, ofQueue] of await this.#inOrder(jobs)) {
      const wanted = new Map<string, WantedKey>();
      for (const { id, keys } of ofQueue) {
        for (const key of keys ?? []) {
          const name = keyName(queue, key);
          if (!wanted.has(name)) wanted.set(name, { queue, key, jobId: id });
        }
      }
      if (wanted.size === 0) continue;
      const rows = (await run(lockUnique, columns(queueId, [...wanted.values()]))) as KeyRow[];
      for (const row of rows) {
        const name = keyName(queue, { namespace: row.namespace, key: row.key });
        const wantedKey = wanted.get(name);
        if (wantedKey !== undefined)
          locked.set(name, { wanted: wantedKey, row, fresh: row.job_id === wantedKey.jobId });
      }
    }
    return locked;
  }

  /**
   * Returns the states and queues of key holders, by job id. Skips keys that are new, have expired or do not depend on
   * the state of their holder. Omits holders that no longer exist, and finished holders that cannot keep the key.
   */
  async #placesOf(locked: LockedKeys, run: Run): Promise<HolderPlaces> {
    const places = new Map<string, HolderLocation>();
    const holders = [...locked.values()].filter(
      ({ fresh, row }) => !fresh && !row.expired && row.states !== null,
    );
    const ofQueue = byQueue(holders.map(({ wanted: { queue }, row }) => ({ queue, row })));
    for (const [queue, group] of ofQueue) {
      const keepsKeyWhenFinished = group.map(
        ({ row: { job_id: id, states } }) => [id, states?.some(isFinished) ?? false] as const,
      );
      await this.#find(await this.#queues.idOf(queue), new Map(keepsKeyWhenFinished), places, run);
    }
    return places;
  }

  /**
   * Adds the states and queues of holders to `places`. Searches one queue, and then the queues to which missing holders
   * were moved.
   *
   * @param keepsKeyWhenFinished by holder id: whether the holder can keep its key after it has finished
   */
  async #find(
    queueId: number,
    keepsKeyWhenFinished: ReadonlyMap<string, boolean>,
    places: Map<string, HolderLocation>,
    run: Run,
  ): Promise<void> {
    const values = [queueId, arrayOf([...keepsKeyWhenFinished.keys()]), [...keepsKeyWhenFinished.values()]];
    const rows = (await run(selectHolders, values)) as HolderRow[];
    const moved = new Map<number, Map<string, boolean>>();
    for (const { id, state, moved_to: movedTo } of rows) {
      if (state !== null) places.set(id, { state, queueId });
      else if (movedTo !== null && movedTo !== queueId) {
        const there = moved.get(movedTo) ?? new Map<string, boolean>();
        moved.set(movedTo, there.set(id, keepsKeyWhenFinished.get(id) ?? false));
      }
    }
    for (const [movedTo, there] of moved) await this.#find(movedTo, there, places, run);
  }

  /**
   * Replaces the content of holders. Returns `false` if one of them can no longer be replaced, for example because it
   * is running.
   */
  async #replace(
    replacements: KeyResolution['replacements'],
    places: HolderPlaces,
    run: Run,
  ): Promise<boolean> {
    const ofQueue = new Map<number, Map<string, NewJob>>();
    for (const [id, job] of replacements) {
      const queueId = places.get(id)?.queueId ?? (await this.#queues.idOf(job.queue));
      ofQueue.set(queueId, (ofQueue.get(queueId) ?? new Map<string, NewJob>()).set(id, job));
    }
    for (const [queueId, contents] of ofQueue) {
      await this.#queues.notePriorities(queueId, contents.values());
      const { statement, values } = replacement(queueId, contents);
      if ((await run(statement, values)).length < contents.size) return false;
    }
    return true;
  }

  async #claim(claims: KeyResolution['claims'], locked: LockedKeys, run: Run): Promise<void> {
    const changed = claims.filter(({ queue, key, jobId }) => {
      const { fresh, wanted } = locked.get(keyName(queue, key)) ?? {};
      return !(fresh === true && wanted?.key === key && wanted.jobId === jobId);
    });
    for (const [queue, group] of byQueue(changed))
      await run(claimUnique, columns(await this.#queues.idOf(queue), group));
  }

  async #inOrder(jobs: readonly NewJob[]): Promise<[id: number, queue: string, jobs: NewJob[]][]> {
    const groups: [number, string, NewJob[]][] = [];
    for (const [queue, group] of byQueue(jobs)) groups.push([await this.#queues.idOf(queue), queue, group]);
    return groups.toSorted(([left], [right]) => left - right);
  }
}

function holderOf(locked: LockedKey | undefined, places: HolderPlaces): KeyHolder | null {
  if (locked === undefined || locked.fresh || locked.row.expired) return null;
  const { job_id: jobId, states: heldStates, fingerprint } = locked.row;
  const state = places.get(jobId)?.state ?? null;
  if (heldStates !== null && (state === null || !heldStates.includes(state))) return null;
  return { jobId, state, fingerprint };
}

function columns(queueId: number, keys: readonly WantedKey[]): unknown[] {
  return [
    queueId,
    keys.map(({ key }) => key.namespace),
    keys.map(({ key }) => key.key),
    arrayOf(keys.map(({ jobId }) => jobId)),
    keys.map(({ key: { states } }) => (states === null ? null : arrayOf(states))),
    keys.map(({ key }) => key.periodMs),
    keys.map(({ key }) => key.fingerprint),
  ];
}
