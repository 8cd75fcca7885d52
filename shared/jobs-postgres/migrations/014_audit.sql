-- Up Migration

-- What was done by hand, and by whom. Rare: one row for an action, however many jobs it was for.
create table audit (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  who text not null,
  action text not null,
  target text,
  filter jsonb,
  count bigint not null
);
