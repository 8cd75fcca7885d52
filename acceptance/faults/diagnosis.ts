import type { Stage } from './stage.js';

const queries = [
  `select name, state, sum(jobs) as jobs from longshore.job_count join longshore.queue on queue.id = queue_id
   group by name, state having sum(jobs) <> 0 order by name, state`,
  `select id, name, attempt, server_id, lease_until - now() as lease, now() - ready_at as age, priority, seq
   from longshore.job where queue_id > 0 order by seq limit 5`,
  'select id, pid, processing, now() - heartbeat_at as silent from longshore.server order by id',
  `select application_name, pid, state, wait_event_type, wait_event, now() - state_change as since,
     pg_blocking_pids(pid) as blocked_by, left(query, 120) as query
   from pg_stat_activity where datname = current_database() and (state <> 'idle' or wait_event_type = 'Lock')`,
];

/** Returns details that help explain why jobs are stuck: store rows, database sessions, and what Postgres and the workers wrote last. */
export async function diagnose({ observer, postgres, fleet }: Stage): Promise<string> {
  const parts: string[] = [];
  for (const query of queries) {
    const rows = await observer.query(query).catch((error: unknown) => [{ error: String(error) }]);
    parts.push(rows.map((row) => JSON.stringify(row)).join('\n'));
  }
  return [...parts, postgres.lastLines(40).join('\n'), fleet.lastLines(5)].join('\n\n');
}
