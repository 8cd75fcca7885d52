-- Up Migration

-- Responses to requests with an Idempotency-Key (POST or a special operation), so that any process can answer a
-- repeated request without executing it again.
create table idempotency_record (
  key text primary key,
  fingerprint text not null,
  response jsonb not null,
  expires_at timestamptz not null
);

create index idempotency_record_expiry on idempotency_record (expires_at);
