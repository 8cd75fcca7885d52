-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- So that the ends of jobs can be read in the order of time (docs/adr/007). A block-range index is not written when a job
-- ends: rows of one time stand together, and it is filled in only while somebody reads.
create index job_done_finished on job_done using brin (finished_at) with (pages_per_range = 64);

-- When a job was sent back to wait for its next attempt; null in those that wait for their first.
alter table job_waiting add column retried_at timestamptz;
create index job_waiting_retried on job_waiting (retried_at) where retried_at is not null;
