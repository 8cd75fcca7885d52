import type { JobMeta, JsonValue } from '@longshore/jobs';
import type { Statement } from '../database.js';

export interface ClaimedRow {
  /** Whether the server is registered; the other members are null when there is nothing to claim. */
  alive: boolean;
  id: string;
  seq: string;
  priority: number;
  attempt: number;
  max_attempts: number;
  name: string;
  args: JsonValue;
  created_at: Date;
  meta: JobMeta | null;
}

/**
 * $1 queue, $2 server, $3 limit, $4 lease in ms.
 *
 * The server's row is locked against the rescuer, which deletes it: a claim is committed before its server is declared
 * dead, and then released with the others, or it finds no row and claims nothing. KEY SHARE does not hinder heartbeats.
 * It is taken only when there is something to claim, for a row lock is a write.
 */
function claim(candidates: string): string {
  return `
    with candidate as materialized (${candidates}),
    alive as materialized (
      select id from longshore.server where id = $2 and exists (select from candidate) for key share
    ),
    claimed as (
      update longshore.job
      set server_id = $2, attempt = job.attempt + 1, started_at = now(),
        lease_until = now() + $4::float8 * interval '1 millisecond'
      from candidate, alive
      where job.queue_id = $1 and job.id = candidate.id
      returning job.id, job.seq, job.priority, job.attempt, job.max_attempts, job.name, job.args, job.created_at,
        job.meta
    ),
    counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select $1, change.state, change.sign * total.jobs
      from (select count(*) as jobs from claimed) as total,
        (values ('enqueued'::longshore.job_state, -1), ('processing', 1)) as change (state, sign)
      where total.jobs > 0
    )
    select exists (select from longshore.server where id = $2) as alive, claimed.*
    from (values (1)) as one left join claimed on true`;
}

const notPaused = 'not exists (select from longshore.queue where id = $1 and paused_at is not null)';

/** From the head of the line: sees every ready job, at the price of passing every running and every dead entry. */
export const claimFromHead: Statement = {
  name: 'longshore-claim-from-head',
  text: claim(`
      select id from longshore.job
      where queue_id = $1 and server_id is null and ${notPaused}
      order by priority, seq limit $3
      for update skip locked`),
};

/**
 * From behind the last claimed job of each priority ($5, $6: parallel arrays in ascending order of priority), so that the
 * cost does not grow with the entries of finished jobs that a long transaction elsewhere keeps from being vacuumed:
 * measured 77 → 26k jobs/s over five rounds without, flat with (docs/adr/001).
 */
export const claimBehindCursor: Statement = {
  name: 'longshore-claim-behind-cursor',
  text: claim(`
      select next.id
      from unnest($5::smallint[], $6::bigint[]) as cursor (priority, seq)
      cross join lateral (
        select job.id from longshore.job
        where job.queue_id = $1 and job.priority = cursor.priority and job.seq > cursor.seq and job.server_id is null
          and ${notPaused}
        order by job.seq limit $3
        for update skip locked
      ) as next
      limit $3`),
};
