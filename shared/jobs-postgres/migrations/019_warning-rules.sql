-- Up Migration

-- The rules for warnings that applications define in code.
create table warning_rule (
  application text collate "C" not null,
  name text collate "C" not null,
  -- The subject, the thresholds, and the webhooks to notify.
  rule jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (application, name)
);

-- The names of the webhooks that get the messages, a JSON array; null for all.
alter table incident add column tell jsonb;
