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
  endedPause,
  isPaused,
  pauseColumns,
  type PauseRow,
  pauseValues,
  toPauseState,
} from '../queues/pause.sql.js';
import { sortCollation } from '@longshore/edge';
import { type Forms, prepared } from '../connection/statement.js';

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

export type PausedTypeRow = PauseRow & { name: string; paused_at: Date };

export const selectPaused = prepared(
  'longshore-select-paused-types',
  `select name, ${pauseColumns} from longshore.paused_type where ${isPaused} order by name collate ${sortCollation}`,
);

/** $1 name. Locks a job type until the transaction ends, so that concurrent changes run one after another. */
export const lockType = prepared(
  'longshore-lock-type',
  `select pg_advisory_xact_lock(longshore.lock_key('paused_type', hashtext($1)))::text`,
);

/** $1 name. Returns no row if the type is not paused. */
export const selectPause = prepared(
  'longshore-select-type-pause',
  `select name, ${pauseColumns} from longshore.paused_type where name = $1 and ${isPaused}`,
);

/** $1 name, $2 who paused it, $3 reason, $4 end, or null. */
export const pauseType = prepared('longshore-pause-type', pausing('now()'), pausing('excluded.paused_at'));

/** @param now SQL expression for the current time in `on conflict`, where Citus supports only what is stored */
function pausing(now: string): string {
  return `
    insert into longshore.paused_type (name, paused_by, pause_reason, paused_until) values ($1, $2, $3, $4)
    on conflict (name) do update set paused_at = ${now}, paused_by = $2, pause_reason = $3, paused_until = $4`;
}

/** The places of ready jobs of the resumed type: SQL after `select queue_id, priority, `. */
const readyPlaces = `from longshore.job
      where name in (select name from resumed) and server_id is null and queue_id > 0
      group by queue_id, priority`;

/**
 * The CTE `gap`, which records the gaps. On Citus, their ranges are read by a CTE of their own. The gaps are then inserted
 * on the coordinator, with its transaction id.
 */
const gaps: Forms<string> = {
  none: `gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, min(seq), max(seq) ${readyPlaces}
      returning queue_id
    )`,
  citus: `places as materialized (
      select queue_id, priority, min(seq) as first_seq, max(seq) as last_seq ${readyPlaces}
    ),
    gap as (
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq)
      select queue_id, priority, first_seq, last_seq from places
      returning queue_id
    )`,
};

/**
 * $1 name. Resumes a job type. Records scan gaps for the ready jobs of this type, because scans might have passed these
 * jobs. Returns their queues, or a single null if there are none. Returns no row if no pause of the type is stored.
 */
export const resumeType = prepared(
  'longshore-resume-type',
  resumption('true', gaps.none),
  resumption('true', gaps.citus),
);

/** Like {@link resumeType}, but only if the pause has ended; otherwise returns no row. */
export const resumeTypeWhenDue = prepared(
  'longshore-resume-type-when-due',
  resumption(endedPause, gaps.none),
  resumption(endedPause, gaps.citus),
);

/**
 * @param condition SQL condition on the row of the paused type
 * @param gap the CTE `gap`
 */
function resumption(condition: string, gap: string): string {
  return `
    with resumed as (
      delete from longshore.paused_type where name = $1 and ${condition} returning name
    ),
    ${gap}
    select distinct gap.queue_id from resumed left join gap on true`;
}
