-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- When a line was written, by the database's clock, so that listeners are told of it (docs/adr/007).
alter table job_report add column written_at timestamptz not null default now();

create index job_report_written on job_report (written_at);
