-- Up Migration

-- What the jobs of a recurring job carry: tags, and the concurrency key that its definition makes of its arguments.
alter table recurring_job
  add column tags text[] not null default '{}',
  add column concurrency_key text,
  add column concurrency_limit integer;
