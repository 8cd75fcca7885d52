-- Up Migration

-- Why an operator asked to cancel a running job, shown with the job until it has ended.
alter table job_cancellation add column reason text;

-- The same for the running jobs that a bulk operation cancels, and the time to which one reschedules its jobs.
alter table bulk_operation
  add column reason text,
  add column run_at timestamptz,
  drop constraint bulk_operation_action_check,
  add constraint bulk_operation_action_check check (action in ('cancel', 'retry', 'run', 'reschedule', 'delete'));
