-- Lists what a restored copy will run, by queue and job name. Jobs that were running at the time of the backup run again,
-- even if they ended later: their handlers had begun.
--
--   psql "$DATABASE_URL" --file ops/restore/unfinished.sql
select queue.name as queue, unfinished.name as job, count(*) as jobs,
  count(*) filter (where unfinished.was_running) as were_running,
  min(unfinished.created_at) as oldest
from (
  select queue_id, name, created_at, server_id is not null as was_running from longshore.job
  union all select queue_id, name, created_at, false from longshore.job_blocked
  union all select queue_id, name, created_at, false from longshore.job_scheduled
  union all select queue_id, name, created_at, false from longshore.job_awaiting
) as unfinished
join longshore.queue on queue.id = unfinished.queue_id
where unfinished.queue_id > 0
group by queue.name, unfinished.name
order by jobs desc, queue, job;
