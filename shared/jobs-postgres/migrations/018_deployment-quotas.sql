-- Up Migration

-- Deployments that callers of the API record count towards quotas, too.
alter table creation
  drop constraint creation_kind_check,
  add constraint creation_kind_check check (kind in ('queue', 'recurring job', 'deployment'));
