-- Up Migration

-- How many jobs a lost server ran at once: the jobs that it had claimed beyond those were never started.
alter table server_lost add column concurrency integer;
