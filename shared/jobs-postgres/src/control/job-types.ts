import {
  checkPause,
  type Clock,
  isSamePause,
  type JobTypeOptions,
  type JobTypes,
  type PausedType,
  type PauseTypeOptions,
  dueAt,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { ReadyScans } from '../claim/ready-scans.js';
import type { Notifier } from '../notifications/notifier.js';
import { afterCommit, type Run } from '../connection/run.js';
import { inTransaction } from '../records/audit.js';
import {
  lockType,
  type PausedTypeRow,
  pauseType,
  resumeType,
  selectPause,
  selectPaused,
} from './job-types.sql.js';
import { pauseValues, toPauseState } from '../queues/pause.sql.js';

/** Pauses and resumes job types. */
export class PostgresJobTypes implements JobTypes {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #scans: ReadyScans;

  readonly #notifier: Notifier;
  readonly #clock: Clock;

  constructor(
    { database, reads }: { database: Database; reads: Database },
    scans: ReadyScans,
    notifier: Notifier,
    clock: Clock,
  ) {
    this.#notifier = notifier;
    this.#clock = clock;
    this.#database = database;
    this.#reads = reads;
    this.#scans = scans;
  }

  async listPaused(): Promise<PausedType[]> {
    return (await this.#reads.query<PausedTypeRow>(selectPaused)).map(toPausedType);
  }

  async pause(name: string, options: PauseTypeOptions = {}): Promise<PausedType | null> {
    const pause = checkPause(options, this.#clock.now());
    const before = await this.#change(name, options, async (run, current) => {
      if (current === null || !isSamePause(current, pause))
        await run(pauseType, [name, ...pauseValues(pause)]);
    });
    const end = dueAt('pause', pause.until, this.#clock.now());
    if (end !== undefined)
      await afterCommit(options.transaction, this.#database.schema, ['pause'], () =>
        this.#notifier.notify(end),
      );
    return before;
  }

  async resume(name: string, options: JobTypeOptions = {}): Promise<PausedType | null> {
    let queueIds: number[] = [];
    const before = await this.#change(name, options, async (run) => {
      const rows = (await run(resumeType, [name])) as readonly { queue_id: number | null }[];
      queueIds = rows.flatMap((row) => row.queue_id ?? []);
    });
    const notify = (): Promise<unknown> => Promise.all(queueIds.map((id) => this.#scans.notifyReleased(id)));
    if (options.transaction === undefined) await notify();
    else
      await afterCommit(
        options.transaction,
        this.#database.schema,
        ['ready'],
        () => void notify().catch(() => undefined),
      ); // a failed notification only delays the jobs, because servers also poll
    return before;
  }

  #change(
    name: string,
    options: JobTypeOptions,
    change: (run: Run, before: PausedType | null) => Promise<unknown>,
  ): Promise<PausedType | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      await run(lockType, [name]);
      const [row] = (await run(selectPause, [name])) as readonly PausedTypeRow[];
      const before = row === undefined ? null : toPausedType(row);
      await change(run, before);
      await record(before);
      return before;
    });
  }
}

function toPausedType(row: PausedTypeRow): PausedType {
  return { name: row.name, ...toPauseState(row), pausedAt: row.paused_at };
}
