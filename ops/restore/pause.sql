-- Pauses all queues and recurring jobs of a restored copy, and forgets its webhooks. Run it before the first service of the
-- copy starts. What was paused already stays as it was.
--
--   psql "$DATABASE_URL" --file ops/restore/pause.sql
begin;
update longshore.queue
set paused_at = now(), paused_by = 'restore', pause_reason = 'restored copy', paused_until = null
where id > 0 and paused_at is null;
update longshore.recurring_job
set paused_at = now(), paused_by = 'restore', pause_reason = 'restored copy', paused_until = null, next_due_at = null
where paused_at is null;
delete from longshore.alert_target;
commit;
