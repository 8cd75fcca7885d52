-- Up Migration

-- The version of the job definition for which the arguments of the enqueued jobs were written.
alter table recurring_job add column version integer not null default 1;

-- The new name of renamed jobs; null for other actions.
alter table bulk_operation add column to_name text;
alter table bulk_operation drop constraint bulk_operation_action_check;
alter table bulk_operation add constraint bulk_operation_action_check
  check (action in ('cancel', 'retry', 'run', 'reschedule', 'rename', 'delete'));
