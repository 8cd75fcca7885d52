import { mapInSlices } from '@longshore/edge';
import type { Job } from '@longshore/jobs';
import {
  checkEditedBytes,
  checkEdits,
  type DecideEdits,
  type EditOptions,
  type EditResult,
  isId,
  type JobContent,
  type JsonText,
  keepStoredDigits,
  type RetriedContent,
  readyIn,
  outbox,
} from '@longshore/jobs/storage';
import type { LiveTable } from '../jobs/job-columns.sql.js';
import { arrayOf, byQueue } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { type JobRow, toJob } from '../jobs/job-row.js';
import type { QueueIdCache, QueueIds } from '../queues/queue-id-cache.js';
import { sizeOfJobs } from '../jobs/find-jobs.sql.js';
import { findBareJobs, findJobs } from '../jobs/job-documents.js';
import type { Notifier } from '../notifications/notifier.js';
import { afterCommit, type Run as RunAny } from '../connection/run.js';
import type { Statement } from '../connection/statement.js';
import { inTransaction } from '../records/audit.js';
import {
  editReady,
  editWaiting,
  lockEditable,
  type LockedRow,
  moveReady,
  moveRelatedRows,
} from './job-editor.sql.js';

type Run = <Row>(statement: Statement, values: unknown[]) => Promise<Row[]>;

function typed(run: RunAny): Run {
  return async <Row>(statement: Statement, values: unknown[]) => (await run(statement, values)) as Row[];
}

/** How an edit reads and writes. */
interface Access {
  readonly run: Run;
  readonly queues: QueueIds;
  /** The queues whose jobs the caller may see; `null` for all. */
  readonly visibleQueues: readonly string[] | null;
}

/** The queue, table and arguments of a job that has been locked. */
interface Place {
  readonly queueId: number;
  readonly table: LiveTable;
  /** The arguments as JSON text, so that numbers keep all their digits. */
  readonly args: JsonText;
}

/** Thrown if a job changed its queue or table between being read and being locked. The edit then starts over. */
class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** Maps each state in which jobs can be edited to the tables that can contain these jobs. */
const tablesOf: Partial<Record<Job['state'], readonly LiveTable[]>> = {
  enqueued: ['job', 'job_blocked'],
  scheduled: ['job_scheduled'],
  awaiting: ['job_awaiting'],
};

/** Edits jobs that are neither running nor finished. */
export class JobEditor {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;

  constructor(database: Database, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
  }

  async edit(ids: readonly string[], decide: DecideEdits, options: EditOptions = {}): Promise<Job[]> {
    const { transaction, visibleQueues = null } = options;
    const jobIds = ids.filter(isId).map((id) => id.toLowerCase());
    for (;;) {
      try {
        const { jobs } = await inTransaction(this.#database, options, async (runAny, record) => {
          const result = await this.#edit(jobIds, decide, this.#access(runAny, visibleQueues));
          await record(result);
          return result;
        });
        await afterCommit(transaction, this.#database.schema, ['ready', 'due', 'outbox'], () => {
          for (const queue of new Set(jobs.map((job) => job.queue))) this.#notifier.notify(readyIn(queue));
          this.#notifier.notify({ kind: 'due', inMs: 0 });
          this.#notifier.notify(outbox);
        });
        return [...jobs];
      } catch (error) {
        if (!(error instanceof MovedError)) throw error;
      }
    }
  }

  /** Changes what is given of a job that waits to run and that the transaction has locked. */
  async change(run: RunAny, id: string, content: RetriedContent): Promise<void> {
    const decide: DecideEdits = async (current) =>
      new Map(
        [...current].map(([, { queue, priority, args, runAt }]) => [
          id,
          { queue, priority, args: JSON.stringify(args), runAt, ...content },
        ]),
      );
    await this.#edit([id], decide, this.#access(run, null));
  }

  /** Uses only the connection of the transaction: another one could wait for it, in a pool that has no other. */
  #access(run: RunAny, visibleQueues: Access['visibleQueues']): Access {
    return { run: typed(run), queues: this.#queues.using(run), visibleQueues };
  }

  async #edit(ids: readonly string[], decide: DecideEdits, access: Access): Promise<EditResult> {
    const { run } = access;
    const bare = await onlyVisible(await run<JobRow>(findBareJobs, [arrayOf(ids)]), access);
    const places = await this.#lock(bare, run);
    // Read again, because jobs can change before the lock.
    const rows = await onlyVisible(await run<JobRow>(findJobs, [arrayOf(bare.map(({ id }) => id))]), access);
    if (rows.some(({ id, state }) => tablesOf[state] !== undefined && !places.has(id)))
      throw new MovedError();
    const before = new Map((await toJobs(rows, access)).map((job) => [job.id, job]));
    const edits = checkEdits(before, await decide(before));
    for (const [statement, place, group] of await grouped(edits, before, places))
      await run(statement, await this.#values(place.queueId, group, edits, places, access));
    await this.#moveRelatedRows(edits, before, places, access);
    const edited = await run<JobRow>(findJobs, [arrayOf([...edits.keys()])]);
    return { before, jobs: await toJobs(edited, access) };
  }

  /**
   * Locks jobs in the order of queue, table and id, to avoid deadlocks. Returns where each locked job was found.
   *
   * @throws {RangeError} if the arguments and results of several jobs are too large in total
   */
  async #lock(rows: readonly JobRow[], run: Run): Promise<Map<string, Place>> {
    const places = new Map<string, Place>();
    const [size] = await run<{ bytes: number }>(sizeOfJobs, [arrayOf(rows.map(({ id }) => id))]);
    checkEditedBytes(
      rows.map(({ id }) => id),
      size?.bytes ?? 0,
    );
    const queueIds = [...new Set(rows.map((row) => row.queue_id))].toSorted((left, right) => left - right);
    for (const queueId of queueIds) {
      const states = new Set(rows.filter((row) => row.queue_id === queueId).map(({ state }) => state));
      for (const table of [...states].flatMap((state) => tablesOf[state] ?? []).toSorted()) {
        const ids = rows.filter((row) => row.queue_id === queueId).map(({ id }) => id);
        const locked = await run<LockedRow>(lockEditable[table], [queueId, arrayOf(ids)]);
        for (const { id, args } of locked) places.set(id, { queueId, table, args });
      }
    }
    return places;
  }

  async #values(
    queueId: number,
    ids: readonly string[],
    edits: ReadonlyMap<string, JobContent>,
    places: ReadonlyMap<string, Place>,
    { queues }: Access,
  ): Promise<unknown[]> {
    const contents = ids.flatMap((id) => edits.get(id) ?? []);
    const documents = await mapInSlices(contents, ({ args }, index) =>
      keepStoredDigits(places.get(ids[index] ?? '')?.args ?? args, args),
    );
    const queueIds = new Map<string, number>();
    for (const [queue, group] of byQueue(contents)) {
      const id = await queues.idOf(queue);
      await queues.notePriorities(id, group);
      queueIds.set(queue, id);
    }
    return [
      queueId,
      arrayOf(ids),
      `[${documents.join(',')}]`,
      arrayOf(contents.map(({ priority }) => priority)),
      contents.map(({ runAt }) => runAt?.toISOString() ?? null),
      arrayOf(contents.flatMap(({ queue }) => queueIds.get(queue) ?? [])),
      contents.map(({ maxAttempts }) => maxAttempts ?? null),
      JSON.stringify(contents.map(({ tags }) => tags ?? null)),
    ];
  }

  async #moveRelatedRows(
    edits: ReadonlyMap<string, JobContent>,
    current: ReadonlyMap<string, Job>,
    places: ReadonlyMap<string, Place>,
    { run, queues }: Access,
  ): Promise<void> {
    const moved = [...edits].flatMap(([id, { queue }]) => {
      const [job, place] = [current.get(id), places.get(id)];
      if (job === undefined || place === undefined || job.queue === queue) return [];
      return [{ id, to: queue, queue: job.queue, queueId: place.queueId, createdAt: job.createdAt }];
    });
    for (const group of byQueue(moved).values()) {
      const [first] = group;
      if (first === undefined) continue;
      const times = group.map(({ createdAt }) => createdAt.getTime());
      const queueIds = await Promise.all(group.map(({ to }) => queues.idOf(to)));
      await run(moveRelatedRows, [
        first.queueId,
        arrayOf(group.map(({ id }) => id)),
        arrayOf(queueIds),
        new Date(Math.min(...times)).toISOString(),
      ]);
    }
  }
}

/** Returns the jobs that the caller may see. The others must not even count towards the limit of an edit. */
async function onlyVisible(rows: readonly JobRow[], { queues, visibleQueues }: Access): Promise<JobRow[]> {
  if (visibleQueues === null) return [...rows];
  const visible = new Set(await queues.idsOf(visibleQueues));
  return rows.filter((row) => visible.has(row.queue_id));
}

async function toJobs(rows: readonly JobRow[], { queues }: Access): Promise<Job[]> {
  const names = new Map<number, string>();
  for (const id of new Set(rows.map((row) => row.queue_id))) names.set(id, await queues.nameOf(id));
  return mapInSlices(rows, (row) => toJob(row, names.get(row.queue_id) ?? ''));
}

/** Groups the edits by queue and statement. Each group contains the ids of its jobs in ascending order. */
async function grouped(
  edits: ReadonlyMap<string, JobContent>,
  current: ReadonlyMap<string, Job>,
  places: ReadonlyMap<string, Place>,
): Promise<Iterable<readonly [Statement, Place, string[]]>> {
  const groups = new Map<string, readonly [Statement, Place, string[]]>();
  // Without a comparator, sorting ten thousand ids takes a fraction of the time.
  await mapInSlices([...edits.keys()].toSorted(), (id) => {
    const [content, job, place] = [edits.get(id), current.get(id), places.get(id)];
    // Cannot happen, because the caller has checked the edits.
    if (content === undefined || job === undefined || place === undefined) return;
    const moves = content.queue !== job.queue || content.runAt?.getTime() !== job.runAt?.getTime();
    const key = `${place.queueId} ${place.table} ${moves}`;
    const group = groups.get(key) ?? [statementFor(place.table, moves), place, []];
    group[2].push(id);
    groups.set(key, group);
  });
  return groups.values();
}

function statementFor(table: LiveTable, moves: boolean): Statement {
  if (table === 'job_scheduled' || table === 'job_awaiting') return editWaiting[table];
  return (moves ? moveReady : editReady)[table];
}
