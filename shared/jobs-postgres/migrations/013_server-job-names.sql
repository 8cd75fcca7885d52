-- Up Migration

-- The names that a server has handlers for; null: it did not say.
alter table server add column job_names text[];
