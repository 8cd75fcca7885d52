-- Up Migration

-- Answers to POST requests with an Idempotency-Key, so that a repeated request is answered once whichever process gets it.
create table kept_answer (
  key text primary key,
  fingerprint text not null,
  response jsonb,
  expires_at timestamptz not null
);

create index kept_answer_expiry on kept_answer (expires_at);
