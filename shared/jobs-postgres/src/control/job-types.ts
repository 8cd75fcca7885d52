import type { JobTypeOptions, JobTypes, PausedType } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { ReadyScans } from '../claim/ready-scans.js';
import { onceCommitted, type Run } from '../connection/run.js';
import { inTransaction } from './audit.js';
import { lockType, pauseType, resumeType, selectPaused, selectPausedAt } from './job-types.sql.js';

/** Pauses and resumes job types. */
export class PostgresJobTypes implements JobTypes {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #scans: ReadyScans;

  constructor({ database, reads }: { database: Database; reads: Database }, scans: ReadyScans) {
    this.#database = database;
    this.#reads = reads;
    this.#scans = scans;
  }

  listPaused(): Promise<PausedType[]> {
    return this.#reads.query<{ name: string; pausedAt: Date }>(selectPaused);
  }

  async pause(name: string, options: JobTypeOptions = {}): Promise<Date | null> {
    return this.#change(name, options, (run) => run(pauseType, [name]));
  }

  async resume(name: string, options: JobTypeOptions = {}): Promise<Date | null> {
    let queueIds: number[] = [];
    const before = await this.#change(name, options, async (run) => {
      const rows = (await run(resumeType, [name])) as readonly { queue_id: number }[];
      queueIds = rows.map((row) => row.queue_id);
    });
    const notify = (): Promise<unknown> => Promise.all(queueIds.map((id) => this.#scans.returned(id)));
    if (options.transaction === undefined) await notify();
    else await onceCommitted(options.transaction, () => void notify().catch(() => undefined)); // servers also poll
    return before;
  }

  #change(
    name: string,
    options: JobTypeOptions,
    change: (run: Run) => Promise<unknown>,
  ): Promise<Date | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      await run(lockType, [name]);
      const [row] = (await run(selectPausedAt, [name])) as readonly { paused_at: Date }[];
      const before = row?.paused_at ?? null;
      await change(run);
      await record(before);
      return before;
    });
  }
}
