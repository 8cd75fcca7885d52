-- Up Migration
create table customer (
  id uuid primary key default gen_random_uuid(),
  name text not null,
  email text not null unique,
  welcomed_at timestamptz
);
