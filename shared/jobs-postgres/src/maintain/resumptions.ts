import {
  automaticActor,
  automaticFilter,
  dueTimesCountAfter,
  type Pausable,
  readyIn,
  resumeActionOf,
  type ResumptionReport,
  Schedule,
} from '@longshore/jobs/storage';
import type { ReadyScans } from '../claim/ready-scans.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import type { Notifier } from '../notifications/notifier.js';
import { type Run, runOnConnection } from '../connection/run.js';
import { recordEntry } from '../records/audit.js';
import { lockType, resumeTypeWhenDue } from '../control/job-types.js';
import { type RecurringJobRow, resumeRecurringJob, toRecurringJob } from '../recurring/recurring-jobs.sql.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import { endedPause, endPause } from '../queues/pause.sql.js';
import { prepared } from '../connection/statement.js';

interface ResumptionParts {
  readonly database: Database;
  readonly notifier: Notifier;
  readonly scans: ReadyScans;
  readonly setAside: PostgresSetAside;
}

/** Notifies servers after a resumption has been committed; `null` if nothing was resumed. */
type Announce = (() => unknown) | null;

/**
 * Resumes queues, job types and recurring jobs whose pauses have ended. Each resumption shares a transaction with its
 * audit entry. A resumption that fails because of stored data is set aside.
 */
export class Resumptions {
  readonly #parts: ResumptionParts;

  constructor(parts: ResumptionParts) {
    this.#parts = parts;
  }

  async resumeDue(limit: number): Promise<ResumptionReport> {
    const ends = await this.#parts.database.query<PauseEndRow>(selectPauseEnds, [limit + 1]);
    const due = ends.filter(({ due_in: dueInMs }) => dueInMs <= 0).slice(0, limit);
    let resumed = 0;
    for (const end of due) if (await this.#resume(end)) resumed++;
    return { resumed, nextDueMs: ends[due.length]?.due_in ?? null };
  }

  async #resume({ kind, key }: PauseEndRow): Promise<boolean> {
    const { database, setAside } = this.#parts;
    const aside = { role: 'resumer', key: `${kind} ${key}` } as const;
    try {
      const notify = await database.transaction(async (client) => {
        const run = runOnConnection(client);
        const notification = await this.#resumptions[kind](run, key);
        if (notification === null) return null;
        const entry = { who: automaticActor, action: resumeActionOf(kind), target: key };
        await recordEntry(run, { ...entry, filter: automaticFilter, count: 1 });
        return notification;
      });
      await notify?.();
      await setAside.removeProcessed(aside.role, [aside.key]);
      return notify !== null;
    } catch (error) {
      if (!isOfData(error)) throw error;
      await setAside.putInOwnTransaction(aside, error);
      return false;
    }
  }

  readonly #resumptions: Readonly<Record<Pausable, (run: Run, key: string) => Promise<Announce>>> = {
    queue: async (run, name) => {
      const { notifier } = this.#parts;
      return (await run(resumeQueueWhenDue, [name])).length === 0
        ? null
        : () => notifier.notify(readyIn(name));
    },
    type: async (run, name) => {
      const { scans } = this.#parts;
      await run(lockType, [name]);
      const rows = (await run(resumeTypeWhenDue, [name])) as readonly { queue_id: number | null }[];
      if (rows.length === 0) return null;
      return () =>
        Promise.all(rows.flatMap((row) => (row.queue_id === null ? [] : scans.notifyReleased(row.queue_id))));
    },
    recurring: async (run, id) => {
      const { notifier } = this.#parts;
      const [row] = (await run(lockRecurringWhenDue, [id])) as readonly (RecurringJobRow & { now: Date })[];
      if (row === undefined) return null;
      const job = toRecurringJob(row);
      await run(resumeRecurringJob, [id, new Schedule(job).next(dueTimesCountAfter(job, row.now))]);
      return () => notifier.notify({ kind: 'recurring', inMs: 0 });
    },
  };
}

export interface PauseEndRow {
  kind: Pausable;
  /** The name of the queue or the job type, or the id of the recurring job. */
  key: string;
  /** Milliseconds until the pause ends, but at most a day; 0 if the pause has ended. */
  due_in: number;
}

/**
 * $1 limit. Selects the pauses that end first. Skips a pause if its resumption is set aside and not due for a retry.
 */
export const selectPauseEnds = prepared(
  'longshore-select-pause-ends',
  `
    select kind, key, greatest(extract(epoch from least(paused_until, now() + interval '1 day') - now()), 0)::float8 * 1000 as due_in
    from (
      select 'queue' as kind, name as key, paused_until from longshore.queue where paused_at is not null and paused_until is not null
      union all
      select 'type', name, paused_until from longshore.paused_type where paused_until is not null
      union all
      select 'recurring', id, paused_until from longshore.recurring_job where paused_at is not null and paused_until is not null
    ) as pause
    where not exists (
      select 1 from longshore.set_aside as aside
      where aside.role = 'resumer' and aside.key = pause.kind || ' ' || pause.key
        and (aside.retry_at > now() or aside.discarded_at is not null)
    )
    order by paused_until limit $1`,
);

/** $1 name. Resumes a queue if its pause has ended; otherwise returns no row. */
export const resumeQueueWhenDue = prepared(
  'longshore-resume-queue-when-due',
  `update longshore.queue set ${endPause} where name = $1 and ${endedPause} returning id`,
);

/** $1 id. Locks and returns a recurring job if its pause has ended; `now` is the current time. */
export const lockRecurringWhenDue = prepared(
  'longshore-lock-recurring-when-due',
  `select *, now() as now from longshore.recurring_job where id = $1 and ${endedPause} for update`,
);
