import type { JsonValue } from '@longshore/jobs';
import type { ClaimedJob, LocalServer, NewJob, SlotReservation } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { type CreatedRow, idsAndArgs } from '../jobs/inserts.sql.js';
import { prepared } from '../connection/statement.js';
import { isPaused, pausedTypes } from '../queues/pause.sql.js';

export interface DirectInsert {
  readonly createdAt: Date;
  /** Whether a server of this process starts the jobs. If not, they are ready, and servers must be notified. */
  readonly isStarted: boolean;
}

/**
 * Inserts new jobs with a lease for an idle server of this process. The server starts them as soon as the insert is
 * durable, which saves the time of a claim (docs/adr/040).
 */
export class DirectInserts {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #servers = new Set<LocalServer>();

  constructor(database: Database, queues: QueueIdCache) {
    this.#database = database;
    this.#queues = queues;
  }

  /** Adds a server, and returns a function that removes it. */
  add(server: LocalServer): () => void {
    this.#servers.add(server);
    return () => this.#servers.delete(server);
  }

  /**
   * Inserts ready jobs for a server that can start all of them at once. Returns `null`, and inserts nothing, if there
   * is no such server, or if the jobs differ in queue, name, priority or maximum number of attempts.
   */
  async insert(jobs: readonly NewJob[]): Promise<DirectInsert | null> {
    const slots = this.#reserve(jobs);
    if (slots === null) return null;
    try {
      const { created_at: createdAt, is_leased: isStarted } = await this.#insert(jobs, slots);
      if (isStarted) startSoon(slots, jobs, createdAt);
      else slots.release();
      return { createdAt, isStarted };
    } catch (error) {
      slots.fail();
      throw error;
    }
  }

  #reserve(jobs: readonly NewJob[]): SlotReservation | null {
    const [first] = jobs;
    if (first === undefined || this.#servers.size === 0) return null;
    const { queue, name, priority, maxAttempts } = first;
    const isAlike = (job: NewJob): boolean =>
      job.queue === queue &&
      job.name === name &&
      job.priority === priority &&
      job.maxAttempts === maxAttempts;
    if (!jobs.every(isAlike)) return null;
    const ids = jobs.map(({ id }) => id);
    for (const server of this.#servers) {
      const slots = server.reserve(queue, name, ids);
      if (slots !== null) return slots;
    }
    return null;
  }

  async #insert(jobs: readonly NewJob[], { serverId, leaseMs }: SlotReservation): Promise<LeasedRow> {
    const [{ queue, name, priority, maxAttempts }] = jobs as readonly [NewJob];
    const queueId = await this.#queues.idOf(queue);
    await this.#queues.notePriorities(queueId, jobs);
    const rows = await this.#database.query<LeasedRow & Record<string, unknown>>(insertLeased, [
      ...idsAndArgs(queueId, jobs),
      name,
      priority,
      maxAttempts,
      jobs.map(({ meta }) => meta ?? null),
      serverId,
      leaseMs,
    ]);
    const [row] = rows;
    if (row === undefined) throw new Error('The insert returned no row');
    return row;
  }
}

/** Starts the jobs after the enqueuing code has had a chance to continue. */
function startSoon(slots: SlotReservation, jobs: readonly NewJob[], createdAt: Date): void {
  const started = jobs.map((job) => toClaimedJob(job, slots.serverId, createdAt));
  setImmediate(() => slots.start(started));
}

function toClaimedJob(job: NewJob, serverId: string, createdAt: Date): ClaimedJob {
  const { id, queue, name, priority, maxAttempts, meta = null } = job;
  return {
    claim: { jobId: id, queue, serverId, attempt: 1 },
    name,
    priority,
    args: JSON.parse(job.args) as JsonValue,
    maxAttempts,
    createdAt,
    dueAt: createdAt,
    readyAt: createdAt,
    meta,
  };
}

/** The single row that {@link insertLeased} returns. */
export interface LeasedRow extends Required<CreatedRow> {
  /** Whether the jobs are leased to the server. If not, they are ready. */
  readonly is_leased: boolean;
}

/**
 * Inserts jobs of one name with a lease, as if the server had claimed them right after the insert. The jobs are ready
 * instead if the server is not registered, the queue or the job type is paused, or the queue has limits. Locks the
 * server's row, as a claim does, so that the rescuer cannot delete it during the insert.
 *
 * $1 queue, $2 ids, $3 arguments, $4 name, $5 priority, $6 maximum attempts, $7 metadata, $8 server, $9 lease in ms.
 */
export const insertLeased = prepared(
  'longshore-insert-leased',
  `
    with consumer as materialized (
      select id from longshore.server
      where id = $8 and $4::text <> all (array(${pausedTypes})) and not exists (
        select 1 from longshore.queue
        where id = $1 and (${isPaused} or concurrency_limit is not null or rate_limit is not null))
      for key share
    ),
    inserted as (
      insert into longshore.job
        (queue_id, id, name, priority, max_attempts, args, meta, server_id, attempt, started_at, lease_until)
      select $1, new.id, $4::text, $5::smallint, $6::smallint, args, meta, consumer.id, (consumer.id is not null)::integer,
        case when consumer.id is not null then clock_timestamp() end,
        case when consumer.id is not null then now() + $9::float8 * interval '1 millisecond' end
      from rows from (unnest($2::uuid[]), jsonb_array_elements($3::jsonb), unnest($7::jsonb[])) as new (id, args, meta)
      left join consumer on true
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, (case when exists (select 1 from consumer) then 'processing' else 'enqueued' end)::longshore.job_state,
        cardinality($2::uuid[])
    )
    select now() as created_at, exists (select 1 from consumer) as is_leased`,
);
