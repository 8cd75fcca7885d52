import { connected } from '../database.js';
import type { Sizes } from '../sizes.js';

/** Writes the rows that a store in long use has: finished jobs over a day, of many queues and names, and waiting ones. */
export async function fillForDashboard(
  url: string,
  { dashboardFinished: finished, dashboardWaiting: waiting, dashboardQueues: queues }: Sizes,
): Promise<void> {
  await connected(url, async (client) => {
    await client.query('set search_path to longshore, pg_catalog');
    await client.query(
      `insert into queue (name) select 'queue-' || n from generate_series(1, $1::integer) as n
        on conflict do nothing`,
      [queues],
    );
    for (const [state, share] of [
      ['done', 0.99],
      ['failed', 0.01],
    ] as const) {
      await client.query(
        `insert into job_done (queue_id, id, created_at, ready_at, started_at, finished_at, server_id,
            state, priority, attempt, max_attempts, name, args, error)
          select 1 + n % $2::integer, uuidv7(time.finished - now()), finished, finished, finished, finished,
            gen_random_uuid(), $3::job_state, 0, 1, 10, 'name-' || n % 50, jsonb_build_object('n', n),
            case when $3 = 'failed' then
              jsonb_build_object('name', 'TypeError', 'message', 'No ship ' || n, 'stack', null) end
          from generate_series(1, $1::integer) as n,
            lateral (select now() - n * interval '86000 s' / $1::integer as finished) as time`,
        [Math.round(finished * share), queues, state],
      );
    }
    await client.query(
      `insert into job (queue_id, id, max_attempts, name, args)
        select 1 + n % $2::integer, uuidv7(), 10, 'name-' || n % 50, jsonb_build_object('n', n)
        from generate_series(1, $1::integer) as n`,
      [waiting, queues],
    );
    await client.query(
      `insert into job_count (queue_id, state, jobs)
        select n, state, jobs / $1::integer from generate_series(1, $1::integer) as n,
          (values ('done'::job_state, $2::bigint), ('failed', $3::bigint), ('enqueued', $4::bigint))
            as present (state, jobs)`,
      [queues, Math.round(finished * 0.99), Math.round(finished * 0.01), waiting],
    );
    await client.query('vacuum analyze');
  });
}
