import type { Job, JobState } from '@longshore/jobs';
import {
  checkName,
  checkRetried,
  checkTime,
  type Claim,
  type ActionOptions,
  type BulkAction,
  type CancelOptions,
  type ControlResult,
  effectOf,
  type JobControl,
  type JobControlOptions,
  type Notification,
  readMeta,
  type RetriedContent,
  type RetryOptions,
  readyIn,
  outbox,
} from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { findRowOn, type JobRow, toJob } from '../jobs/job-row.js';
import type { PostgresJobReader } from '../read/job-reader.js';
import type { QueueIdCache, QueueIds } from '../queues/queue-id-cache.js';
import { afterCommit, type Run, runAlone } from '../connection/run.js';
import { restoreDependents } from '../dependencies/skipped-jobs.js';
import type { Notifier } from '../notifications/notifier.js';
import type { Statement } from '../connection/statement.js';
import { inTransaction, type RecordResult } from '../records/audit.js';
import type { CancellationRequests } from '../claim/cancellation-requests.js';
import type { JobEditor } from './job-editor.js';
import { lockOneEditable } from './job-editor.sql.js';
import * as sql from '../jobs/job-control.sql.js';
import {
  detailsOf,
  type Move,
  type MoveDetails,
  moveJobs,
  type MovedRow,
  placesOf,
  placeTables,
} from '../jobs/job-moves.sql.js';

/** How an action on a job is carried out. */
interface Action {
  readonly action: BulkAction;
  /** The move that carries it out, if not the one with the same name. */
  readonly move?: Move;
}

/** How an action reads the job and runs statements. */
interface JobAccess {
  readonly queues: QueueIds;
  readonly run: Run;
  readonly find: () => Promise<JobRow | undefined>;
  /** Whether to lock the job before it is read. */
  readonly locks: boolean;
}

/**
 * The statements that lock a job, by state. There are none for running jobs, because a handler's transaction can keep
 * its job locked for a long time.
 */
const lockStatements: Partial<Record<JobState, readonly Statement[]>> = {
  enqueued: [lockOneEditable.job, lockOneEditable.job_blocked],
  scheduled: [lockOneEditable.job_scheduled],
  awaiting: [lockOneEditable.job_awaiting],
  done: [sql.lockFinished.done],
  failed: [sql.lockFinished.failed],
  cancelled: [sql.lockFinished.cancelled],
};

/** Carries out operators' actions on single jobs. */
export class PostgresControl implements JobControl {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #reader: PostgresJobReader;
  readonly #notifier: Notifier;
  readonly #editor: JobEditor;
  readonly #requests: CancellationRequests;

  constructor(
    database: Database,
    queues: QueueIdCache,
    reader: PostgresJobReader,
    notifier: Notifier,
    editor: JobEditor,
    requests: CancellationRequests,
  ) {
    this.#requests = requests;
    this.#database = database;
    this.#queues = queues;
    this.#reader = reader;
    this.#notifier = notifier;
    this.#editor = editor;
  }

  async cancel(id: string, { reason, ...options }: CancelOptions = {}): Promise<ControlResult> {
    const notify = (result: ControlResult): void => {
      if (result.outcome !== 'ok' || !result.changed) return;
      this.#notifier.notify(result.job.state === 'processing' ? { kind: 'cancel' } : outbox);
    };
    return this.#notified(options, ['cancel', 'outbox'], notify, () =>
      this.#control(id, { action: 'cancel' }, options, { reason }),
    );
  }

  async retry(id: string, options: RetryOptions = {}): Promise<ControlResult> {
    const {
      dependents = false,
      ignoreDependencies = false,
      visibleQueues = null,
      content,
      ...rest
    } = options;
    checkRetried(content);
    const move = ignoreDependencies ? 'retryIgnoringDependencies' : 'retry';
    const restore = dependents ? restoreDependentsIn(visibleQueues) : undefined;
    const afterChange = content === undefined ? restore : this.#changing(content, restore);
    return this.#enqueued(rest, () => this.#control(id, { action: 'retry', move }, rest, {}, afterChange));
  }

  /** Returns a step that changes the content of the job that has been moved, and then takes the given step. */
  #changing(content: RetriedContent, restore: AfterChange = () => Promise.resolve(0)): AfterChange {
    return async (run, row) => {
      await this.#editor.change(run, row.id, content);
      return restore(run, row);
    };
  }

  run(id: string, options?: JobControlOptions): Promise<ControlResult> {
    return this.#enqueued(options, () => this.#control(id, { action: 'run' }, options));
  }

  async reschedule(id: string, runAt: Date, options?: JobControlOptions): Promise<ControlResult> {
    checkTime('runAt', runAt);
    const control = (): Promise<ControlResult> =>
      this.#control(id, { action: 'reschedule' }, options, { runAt });
    return this.#notified(options, ['due'], () => this.#notifier.notify({ kind: 'due', inMs: 0 }), control);
  }

  async rename(id: string, toName: string, options?: JobControlOptions): Promise<ControlResult> {
    checkName('job', toName);
    return this.#enqueued(options, () => this.#control(id, { action: 'rename' }, options, { toName }));
  }

  delete(id: string, options?: JobControlOptions): Promise<ControlResult> {
    return this.#control(id, { action: 'delete' }, options);
  }

  edit(...call: Parameters<JobControl['edit']>): Promise<Job[]> {
    return this.#editor.edit(...call);
  }

  cancellations(claims: readonly Claim[]): Promise<Claim[]> {
    return this.#requests.among(claims);
  }

  /** Carries out an action. Locks the job first if there is a check or an audit entry. */
  async #control(
    id: string,
    action: Action,
    options: JobControlOptions = {},
    details: MoveDetails = {},
    afterChange?: AfterChange,
  ): Promise<ControlResult> {
    const { check, audit, transaction } = options;
    if (
      transaction === undefined &&
      check === undefined &&
      audit === undefined &&
      afterChange === undefined
    ) {
      const find = (): Promise<JobRow | undefined> => this.#reader.findRow(id);
      const access = { queues: this.#queues, run: runAlone(this.#database), find, locks: false };
      return this.#controlOn(access, id, action, details);
    }
    return inTransaction(this.#database, options, (run, record) => {
      const access = {
        // Another connection than that of the transaction could wait for it, in a pool that has no other.
        queues: this.#queues.using(run),
        run,
        find: () => findRowOn(run, id),
        locks: check !== undefined || audit !== undefined,
      };
      return this.#controlOn(access, id, action, details, check, record, afterChange);
    });
  }

  /** Reads the job and runs the statement for its state. Starts over if the state changes before the statement runs. */
  async #controlOn(
    access: JobAccess,
    id: string,
    { action, move = action }: Action,
    details: MoveDetails,
    check?: JobControlOptions['check'],
    record: RecordResult<ControlResult> = () => Promise.resolve(),
    afterChange?: AfterChange,
  ): Promise<ControlResult> {
    const { queues, run, find, locks } = access;
    const ended = async (result: ControlResult): Promise<ControlResult> => {
      await record(result);
      return result;
    };
    for (;;) {
      const row = locks ? await lockedRow(access, id) : await find();
      if (row === undefined) return ended({ outcome: 'unknown' });
      const job = toJob(row, await queues.nameOf(row.queue_id));
      check?.(job);
      const effect = effectOn(row, action, details);
      if (effect === 'unchanged') return ended({ outcome: 'ok', job, changed: false, restored: 0 });
      if (effect === 'illegal') return ended({ outcome: 'illegal', job });
      const done = await moveFirst(run, move, row, details);
      if (done === undefined) continue;
      const restored = done.changed ? ((await afterChange?.(run, row)) ?? 0) : 0;
      const after = await find();
      // A running job is not locked, so its attempt may just have gone back to the queue, and may even have been moved and
      // claimed in another one. Then it is cancelled there.
      const isRequest = move === 'cancel' && row.state === 'processing';
      if (isRequest && after !== undefined && hasGoneBack(row, after)) continue;
      await record({ outcome: 'ok', job, changed: done.changed, restored });
      const changed = after === undefined ? job : toJob(after, await queues.nameOf(after.queue_id));
      // The request itself is not a change of what the caller saw.
      const { cancelRequestedAt, cancelReason } = job;
      if (isRequest) check?.({ ...changed, cancelRequestedAt, cancelReason });
      return { outcome: 'ok', job: changed, changed: done.changed, restored };
    }
  }

  #enqueued(options: JobControlOptions | undefined, control: Control): Promise<ControlResult> {
    const notify = (result: ControlResult): void => {
      if (result.outcome !== 'ok' || !result.changed) return;
      this.#notifier.notify(readyIn(result.job.queue));
      this.#notifier.notify(outbox); // a job with a concurrency key is blocked until the outbox relay checks it
    };
    return this.#notified(options, ['ready', 'outbox'], notify, control);
  }

  /** Carries out the action, and then notifies servers. In a caller's transaction, notifies them after the commit. */
  async #notified(
    { transaction }: ActionOptions<ControlResult> = {},
    kinds: readonly Notification['kind'][],
    notify: (result: ControlResult) => void,
    control: Control,
  ): Promise<ControlResult> {
    const result = await control();
    await afterCommit(transaction, this.#database.schema, kinds, () => notify(result));
    return result;
  }
}

/** Starts an action. */
type Control = () => Promise<ControlResult>;

/** Returns what an action does to a job: nothing if it has the new name already. */
function effectOn(row: JobRow, action: BulkAction, { toName }: MoveDetails): ReturnType<typeof effectOf> {
  const effect = effectOf(action, row.state);
  return effect === 'change' && action === 'rename' && row.name === toName ? 'unchanged' : effect;
}

/** Moves a job from the first place of its state in which it is found. Resolves to `undefined` if it has moved since it was read. */
export async function moveFirst(
  run: Run,
  move: Move,
  { queue_id: queueId, id, state }: Pick<JobRow, 'queue_id' | 'id' | 'state'>,
  details: MoveDetails = {},
): Promise<MovedRow | undefined> {
  for (const place of placesOf[move].filter((each) => placeTables[each].state === state)) {
    const statement = moveJobs[move][place];
    const values = [queueId, arrayOf([id]), ...detailsOf(move, place, details)];
    const [moved] = statement === undefined ? [] : ((await run(statement, values)) as readonly MovedRow[]);
    if (moved !== undefined) return moved;
  }
  return undefined;
}

/** Returns whether a job that ran is waiting again, or was moved to another queue, which is only possible while it waits. */
function hasGoneBack(before: JobRow, { state, queue_id: queueId }: JobRow): boolean {
  return state === 'enqueued' || state === 'scheduled' || queueId !== before.queue_id;
}

/**
 * A step that runs after a change, in the same transaction, and returns how many dependents it has restored. `row` is the
 * job before the change.
 */
type AfterChange = (run: Run, row: JobRow) => Promise<number>;

function restoreDependentsIn(queues: readonly string[] | null): AfterChange {
  return async (run, { id, meta }) => {
    const { batchId } = readMeta(meta);
    return restoreDependents(run, batchId === null ? [id] : [id, batchId], queues);
  };
}

/**
 * Locks a job until the transaction ends and returns its row; `undefined` if there is no such job. Does not lock a
 * running job.
 */
export async function lockedRow(
  { run, find }: Pick<JobAccess, 'run' | 'find'>,
  id: string,
): Promise<JobRow | undefined> {
  for (let row = await find(); row !== undefined;) {
    const { queue_id: queueId, state } = row;
    let locked = lockStatements[state] === undefined;
    for (const lock of lockStatements[state] ?? []) locked ||= (await run(lock, [queueId, id])).length > 0;
    row = await find();
    if (locked && row?.queue_id === queueId && row.state === state) return row;
  }
  return undefined;
}
