-- Up Migration

-- How many dependents of retried jobs an operation has restored.
alter table bulk_operation add column restored bigint not null default 0;
