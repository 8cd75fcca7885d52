import { PostgresStorage } from 'longshore';
import type pg from 'pg';
import { setTimeout as pause } from 'node:timers/promises';
import { connected } from '../database.js';
import type { Sizes } from '../sizes.js';
import { fillTimings } from './timings.js';

/** Number of days to fill: the default retention of done and cancelled jobs. */
const days = 7;

/** The states of finished jobs, and the share of jobs in each state. */
const outcomes = [
  ['done', 0.94],
  ['failed', 0.05],
  ['cancelled', 0.01],
] as const;

/** Number of distinct job names. */
export const names = 200;

/** Number of finished jobs in the last queue. */
const rareJobs = 6;

/**
 * Fills a store as if it had been in use for a long time: waiting jobs, and finished jobs on each day of the retention
 * period. Of 1,000 queues, the first has a tenth of the finished jobs, and each later queue has fewer than the one
 * before. Job names are distributed similarly.
 */
export async function fillForDashboard(url: string, sizes: Sizes): Promise<void> {
  await connected(url, async (client) => {
    await client.query('set search_path to longshore, pg_catalog');
    await client.query(
      `insert into queue (name) select 'queue-' || n from generate_series(1, $1::integer) as n
        on conflict do nothing`,
      [sizes.dashboardQueues],
    );
    await makePastDays(client);
    for (const [state, share] of outcomes) {
      const perDay = Math.ceil((sizes.dashboardFinished * share) / days);
      for (let daysAgo = days - 1; daysAgo >= 0; daysAgo--)
        await fillDay(client, { state, daysAgo, jobs: perDay, queues: sizes.dashboardQueues });
    }
    // Three lines of log for each job that failed today.
    await client.query(
      `insert into job_report (queue_id, job_id, started_at, line, attempt, at, level, message)
        select queue_id, id, started_at, line, 1, finished_at, 'info', 'line ' || line
        from job_history_failed, generate_series(1, 3) as line where finished_at >= date_trunc('day', now(), 'UTC')`,
    );
    await client.query('vacuum analyze');
    // The indexes are built before the ready jobs are written, because servers postpone index builds while there is a
    // backlog of ready jobs.
    await indexEndedDays(client, url);
    await client.query(
      `insert into job (queue_id, id, max_attempts, name, args)
        select 1 + n % $2::integer, uuidv7(), 10, 'name-' || n % $3::integer, jsonb_build_object('n', n)
        from generate_series(1, $1::integer) as n`,
      [sizes.dashboardWaiting, sizes.dashboardQueues, names],
    );
    await client.query(
      `insert into job_count (queue_id, state, jobs)
        select queue_id, state, count(*) from job_history group by queue_id, state
        union all select queue_id, 'enqueued', count(*) from job where queue_id > 0 group by queue_id`,
    );
    await fillTimings(client, { queues: sizes.dashboardQueues, names });
    await client.query('vacuum analyze');
  });
}

interface Day {
  readonly state: string;
  readonly daysAgo: number;
  readonly jobs: number;
  readonly queues: number;
}

/**
 * Writes the jobs that ended in one state on one day, spread evenly over the day. Today's jobs are spread over the time
 * from midnight UTC until now.
 */
async function fillDay(client: pg.Client, { state, daysAgo, jobs, queues }: Day): Promise<void> {
  await client.query(
    `insert into job_history_${state} (queue_id, id, created_at, ready_at, started_at, finished_at, server_id,
        priority, attempt, max_attempts, name, args, error)
      select case when n % greatest($1::integer * ${days} / ${rareJobs}, 1) = 0 and $3 = 'done' then $4::integer
          else 1 + floor(($4::integer - 1) * power(spread.queue, 3))::integer end,
        uuidv7(time.finished - now()), finished, finished, finished, finished,
        gen_random_uuid(), 0, 1, 10, 'name-' || floor(${names} * power(spread.name, 3))::integer,
        jsonb_build_object('n', n, 'order', jsonb_build_object('id', n % 100000)),
        case when $3 = 'failed' then
          jsonb_build_object('name', 'TypeError', 'message', 'No ship ' || n, 'stack', null) end
      from generate_series($2::integer * $1 + 1, ($2::integer + 1) * $1) as n,
        lateral (select (hashint4(n)::bigint + 2147483648) / 4294967296.0 as queue,
          (hashint4(n + 77777777)::bigint + 2147483648) / 4294967296.0 as name) as spread,
        lateral (select date_trunc('day', now(), 'UTC') as midnight) as today,
        lateral (select case when $2 = 0 then midnight + (n - 1) * (now() - midnight) / $1::float8
          else midnight - $2 * interval '1 day' + (n - 1 - $2 * $1) * interval '1 day' / $1::float8 end as finished) as time`,
    [jobs, daysAgo, state, queues],
  );
}

async function makePastDays(client: pg.Client): Promise<void> {
  await client.query(
    `select make_history_day('job_history_' || state, (now() at time zone 'UTC')::date - ago)
      from unnest($1::text[]) as state, generate_series(2, $2::integer - 1) as ago`,
    [outcomes.map(([state]) => state), days],
  );
}

/** Builds the indexes of past days, as a running server does in the background. */
async function indexEndedDays(client: pg.Client, url: string): Promise<void> {
  const storage = new PostgresStorage({ url });
  await storage.open();
  try {
    for (;;) {
      await storage.maintenance.maintain();
      const { rows } = await client.query(
        `select from pg_inherits join pg_class on pg_class.oid = inhrelid
          where inhparent in ('job_history_done'::regclass, 'job_history_failed'::regclass, 'job_history_cancelled'::regclass)
            and right(relname, 8) < to_char(now() at time zone 'UTC', 'YYYYMMDD') and pg_relation_size(inhrelid) >= 4194304
            and (select count(*) from pg_index where indrelid = inhrelid and indisvalid and indexrelid::regclass::text ~ '_(queue|name|args)$') < 3`,
      );
      if (rows.length === 0) return;
      await pause(500);
    }
  } finally {
    await storage.close();
  }
}
