import type { TransactionClient } from '@longshore/jobs';
import {
  advanceIncidents,
  checkPause,
  type Clock,
  IdSource,
  type Incident,
  incidentEndsAfterMs,
  type IncidentOptions,
  type IncidentQuery,
  type Incidents,
  incidentsKeptMs,
  maxIncidents,
  type MuteOptions,
  type ObservedWarning,
  type PauseOptions,
  storableWarning,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { type Run, runOf, runOnConnection } from '../connection/run.js';
import { prepared } from '../connection/statement.js';
import type { PostgresAlerts } from './alerts.js';
import { inTransaction } from './audit.js';

/** Stores incidents in Postgres, for all processes that check the warnings or show them. */
export class PostgresIncidents implements Incidents {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #alerts: PostgresAlerts;
  readonly #clock: Clock;
  readonly #ids: IdSource;

  constructor(
    { database, reads }: { database: Database; reads: Database },
    alerts: PostgresAlerts,
    clock: Clock,
  ) {
    this.#database = database;
    this.#reads = reads;
    this.#alerts = alerts;
    this.#clock = clock;
    this.#ids = new IdSource(clock);
  }

  async reserveCheck(everyMs: number): Promise<boolean> {
    return (await this.#database.query(takeTurn, [everyMs])).length > 0;
  }

  async observe(warnings: readonly ObservedWarning[]): Promise<void> {
    const observed = warnings.map(storableWarning);
    await this.#database.transaction(async (client) => {
      const run = runOnConnection(client);
      const [turn] = (await run(lockTurn, [])) as readonly { now: Date }[];
      if (turn === undefined) throw new Error('The row of incident_turn is missing');
      const rows = (await run(selectCurrent, [turn.now, incidentEndsAfterMs])) as readonly IncidentRow[];
      const changes = advanceIncidents(rows.map(toIncident), observed, turn.now, () => this.#ids.newId());
      if (changes.changed.length > 0)
        await run(upsertIncidents, [JSON.stringify(changes.changed.map(toRow))]);
      await this.#alerts.update(run, changes, turn.now);
      await run(deleteOldIncidents, [turn.now, incidentsKeptMs, maxIncidents]);
    });
  }

  async list({ isActive, limit, after }: IncidentQuery): Promise<Incident[]> {
    const rows = await this.#reads.query<IncidentRow>(selectIncidents, [
      isActive ?? null,
      after ?? null,
      limit,
    ]);
    return rows.map(toIncident);
  }

  async find(id: string, transaction?: TransactionClient): Promise<Incident | null> {
    return find(runOf(this.#database, transaction), id);
  }

  async acknowledge(
    id: string,
    options: Pick<PauseOptions, 'by' | 'reason'>,
    control?: IncidentOptions,
  ): Promise<Incident | null> {
    const { by, reason } = checkPause(options, this.#clock.now());
    return this.#change(id, control, (run) => run(acknowledgeIncident, [id, by, reason]));
  }

  async mute(id: string, mute: MuteOptions | null, options?: IncidentOptions): Promise<Incident | null> {
    const { until, by, reason } = checkPause(mute ?? {}, this.#clock.now());
    return this.#change(id, options, (run) => run(muteIncident, [id, until, by, reason]));
  }

  #change(
    id: string,
    options: IncidentOptions = {},
    change: (run: Run) => Promise<unknown>,
  ): Promise<Incident | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      // Observations copy the muting of an earlier incident, so they must not run at the same time.
      await run(lockTurn, []);
      const before = await find(run, id);
      if (before !== null) {
        options.check?.(before);
        await change(run);
      }
      await record(before);
      return before;
    });
  }
}

const idPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

async function find(run: Run, id: string): Promise<Incident | null> {
  if (!idPattern.test(id)) return null;
  const [row] = (await run(findIncident, [id])) as readonly IncidentRow[];
  return row === undefined ? null : toIncident(row);
}

interface IncidentRow {
  [column: string]: unknown;
  id: string;
  kind: string;
  key: string;
  subject: string;
  text: string;
  advice: string;
  link: string;
  is_measured: boolean;
  is_recovering: boolean;
  since: Date;
  seen_at: Date;
  ended_at: Date | null;
  ending: Incident['ending'];
  announced: boolean;
  acknowledged_at: Date | null;
  acknowledged_by: string | null;
  acknowledge_reason: string | null;
  muted_until: Date | null;
  muted_by: string | null;
  mute_reason: string | null;
  tell: readonly string[] | null;
}

function toIncident(row: IncidentRow): Incident {
  return {
    id: row.id,
    kind: row.kind,
    key: row.key,
    subject: row.subject,
    text: row.text,
    advice: row.advice,
    link: row.link,
    isMeasured: row.is_measured,
    isRecovering: row.is_recovering,
    since: row.since,
    seenAt: row.seen_at,
    endedAt: row.ended_at,
    ending: row.ending,
    announced: row.announced,
    acknowledgedAt: row.acknowledged_at,
    acknowledgedBy: row.acknowledged_by,
    acknowledgeReason: row.acknowledge_reason,
    mutedUntil: row.muted_until,
    mutedBy: row.muted_by,
    muteReason: row.mute_reason,
    ...(row.tell !== null && { tell: row.tell }),
  };
}

function toRow(incident: Incident): IncidentRow {
  return {
    id: incident.id,
    kind: incident.kind,
    key: incident.key,
    subject: incident.subject,
    text: incident.text,
    advice: incident.advice,
    link: incident.link,
    is_measured: incident.isMeasured,
    is_recovering: incident.isRecovering,
    since: incident.since,
    seen_at: incident.seenAt,
    ended_at: incident.endedAt,
    ending: incident.ending,
    announced: incident.announced,
    acknowledged_at: incident.acknowledgedAt,
    acknowledged_by: incident.acknowledgedBy,
    acknowledge_reason: incident.acknowledgeReason,
    muted_until: incident.mutedUntil,
    muted_by: incident.mutedBy,
    mute_reason: incident.muteReason,
    tell: incident.tell ?? null,
  };
}

/**
 * $1 interval in milliseconds. Reserves the check of the warnings for this process and returns a row. Returns no row if
 * the check has already been reserved within the interval, unless the clock has been set back since.
 */
export const takeTurn = prepared(
  'longshore-take-incident-turn',
  `
    update longshore.incident_turn set taken_at = clock_timestamp()
    where taken_at <= clock_timestamp() - $1::float8 * interval '1 millisecond' or taken_at > clock_timestamp()
    returning single`,
);

/**
 * Locks the only row of `incident_turn` until the transaction ends, so that processes update the stored incidents one at
 * a time. Returns the current time.
 */
export const lockTurn = prepared(
  'longshore-lock-incident-turn',
  'select clock_timestamp() as now from longshore.incident_turn for update',
);

/**
 * $1 now, $2 time in milliseconds. Returns the incidents that last, and those that ended within that time or are muted.
 */
export const selectCurrent = prepared(
  'longshore-select-current-incidents',
  `
    select * from longshore.incident
    where ended_at is null or ended_at > $1::timestamptz - $2::float8 * interval '1 millisecond' or muted_until > $1
    order by id limit 20000`,
);

const columns = {
  id: 'uuid',
  kind: 'text',
  key: 'text',
  subject: 'text',
  text: 'text',
  advice: 'text',
  link: 'text',
  is_measured: 'boolean',
  is_recovering: 'boolean',
  since: 'timestamptz',
  seen_at: 'timestamptz',
  ended_at: 'timestamptz',
  ending: 'text',
  announced: 'boolean',
  muted_until: 'timestamptz',
  muted_by: 'text',
  mute_reason: 'text',
  tell: 'jsonb',
} as const satisfies Partial<Record<keyof IncidentRow, string>>;

const names = Object.keys(columns).join(', ');
const types = Object.entries(columns)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ');
const observed = [
  'since',
  'subject',
  'text',
  'advice',
  'link',
  'is_measured',
  'is_recovering',
  'seen_at',
  'ended_at',
  'ending',
  'tell',
];

/**
 * $1 rows, a JSON array. Inserts incidents, or updates what an observation changes. What people do with an incident at the
 * same time is kept.
 */
export const upsertIncidents = prepared(
  'longshore-upsert-incidents',
  `
    insert into longshore.incident (${names})
    select ${names} from json_to_recordset($1::json) as incident (${types})
    on conflict (id) do update set ${observed.map((name) => `${name} = excluded.${name}`).join(', ')}`,
);

/** $1 now, $2 maximum age in milliseconds, $3 maximum number. Deletes what ended longer ago, and the oldest beyond the number. */
export const deleteOldIncidents = prepared(
  'longshore-delete-old-incidents',
  `
    delete from longshore.incident
    where ended_at < $1::timestamptz - $2::float8 * interval '1 millisecond'
      or ended_at is not null and id <= (
        select id from longshore.incident where ended_at is not null order by id desc offset $3 limit 1
      )`,
);

/** $1 whether they last, or null for all; $2 id to continue after, or null; $3 limit. Newest first. */
export const selectIncidents = prepared(
  'longshore-select-incidents',
  `
    select * from longshore.incident
    where ($1::boolean is null or (ended_at is null) = $1) and ($2::uuid is null or id < $2)
    order by id desc limit $3`,
);

/** $1 id. */
export const findIncident = prepared(
  'longshore-find-incident',
  'select * from longshore.incident where id = $1::uuid',
);

/** $1 id, $2 who, $3 reason. */
export const acknowledgeIncident = prepared(
  'longshore-acknowledge-incident',
  `
    update longshore.incident
    set acknowledged_at = clock_timestamp(), acknowledged_by = $2::text, acknowledge_reason = $3::text
    where id = $1::uuid`,
);

/** $1 id of an incident, $2 end or null, $3 who, $4 reason. Changes all incidents of the same warning. */
export const muteIncident = prepared(
  'longshore-mute-incident',
  `
    update longshore.incident
    set muted_until = $2::timestamptz, muted_by = $3::text, mute_reason = $4::text
    where key = (select key from longshore.incident where id = $1::uuid)`,
);
