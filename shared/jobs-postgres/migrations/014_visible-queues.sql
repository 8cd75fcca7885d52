-- Up Migration

-- The queues in which an operation restores the dependents of retried jobs, if its caller may not see all; null for all.
alter table bulk_operation add column visible_queues text[];
