-- Up Migration

-- Whether the whole installation is paused (docs/adr/066). At most one row: none until a copy is paused. Programs that do
-- not know the table do not pause, so the services of a copy must be at least as new as this.
create table installation (
  is_only boolean primary key default true check (is_only),
  -- The database in which it was last paused or resumed. A copy of the row in another database does not count.
  fingerprint text not null,
  paused_at timestamptz
);
