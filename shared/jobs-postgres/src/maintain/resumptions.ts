import {
  automaticFilter,
  automaticActor,
  type Pausable,
  dueTimesCountAfter,
  type ResumptionReport,
  resumeActionOf,
  readyIn,
} from '@longshore/jobs/storage';
import type { ReadyScans } from '../claim/ready-scans.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import type { Notifier } from '../notifications/notifier.js';
import { type Run, runOnConnection } from '../connection/run.js';
import { recordEntry } from '../records/audit.js';
import { lockType, resumeTypeWhenDue } from '../control/job-types.sql.js';
import { type RecurringJobRow, resumeRecurringJob, toRecurringJob } from '../recurring/recurring-jobs.sql.js';
import { nextDueAt } from '../recurring/synchronization.js';
import {
  lockRecurringWhenDue,
  type PauseEndRow,
  resumeQueueWhenDue,
  selectPauseEnds,
} from './resumptions.sql.js';
import type { PostgresSetAside } from '../records/set-aside.js';

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
      await run(resumeRecurringJob, [id, nextDueAt(job, dueTimesCountAfter(job, row.now))]);
      return () => notifier.notify({ kind: 'recurring', inMs: 0 });
    },
  };
}
