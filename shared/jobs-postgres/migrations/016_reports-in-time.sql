-- Up Migration

-- When a line was written, by the database's clock, so that listeners are told of it (docs/adr/007).
alter table job_report add column written_at timestamptz not null default now();

create index job_report_written on job_report (written_at);
