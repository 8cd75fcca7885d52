-- Up Migration

-- API keys. Only a hash of each secret is stored, so a copy of the table gives access to nothing.
create table api_key (
  id text primary key,
  hash bytea not null check (octet_length(hash) = 32),
  name text not null,
  scopes text[] not null,
  queues text[],
  expires_at timestamptz,
  created_at timestamptz not null,
  created_by text,
  last_used_at timestamptz
);
