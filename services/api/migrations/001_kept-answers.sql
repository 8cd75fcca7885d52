-- Up Migration

-- Responses to POST requests with an Idempotency-Key, so that any process can answer a repeated request without
-- executing it again.
create table kept_answer (
  key text primary key,
  fingerprint text not null,
  response jsonb,
  expires_at timestamptz not null
);

create index kept_answer_expiry on kept_answer (expires_at);
