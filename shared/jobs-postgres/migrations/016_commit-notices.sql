-- Up Migration

-- As in 010, but says what the transaction has done, and leaves a mark: an empty gap in no queue (0), which polls read and
-- housekeeping deletes like other gaps. By the mark, servers know that there was such a transaction; anyone who may connect
-- to the database could send the notification.
--
-- `kinds`: what the transaction has done, as in the payloads of notifications, separated by spaces.
drop function notify_on_commit();

create function notify_on_commit(kinds text default 'ready due outbox') returns void language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare
  flag text;
  kind text;
begin
  if current_setting('max_prepared_transactions')::integer > 0 or pg_notification_queue_usage() >= 0.5 then
    return;
  end if;
  foreach kind in array string_to_array(kinds, ' ') loop
    -- Not the name of the schema alone, because Postgres reserves some names for the settings of extensions.
    flag := 'job_store.' || 'longshore' || '_' || kind;
    if current_setting(flag, true) is distinct from 'on'
      and pg_try_advisory_xact_lock(longshore.lock_key('notify ' || kind, (extract(epoch from clock_timestamp()) * 5)::bigint)) then
      perform set_config(flag, 'on', true),
        pg_notify('longshore', '00000000-0000-0000-0000-000000000000 * ' || kind);
      insert into longshore.scan_gap (queue_id, priority, first_seq, last_seq) values (0, 0, 1, 0);
    end if;
  end loop;
end
$$;

-- Jobs that are enqueued from SQL say which of these they are.
do $$
begin
  execute replace(
    pg_get_functiondef('longshore.enqueue'::regproc),
    'notify_on_commit()',
    'notify_on_commit(case when enqueue.run_at is not null then ''due'' when enqueue.concurrency_key is not null then ''outbox'' else ''ready'' end)'
  );
end
$$;
