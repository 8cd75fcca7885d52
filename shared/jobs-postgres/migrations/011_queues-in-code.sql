-- Up Migration

-- The settings of a queue that an application defines in code, as they were last applied: the application, concurrencyLimit,
-- rateLimit and paused. Null if no code defines any.
alter table queue add column in_code jsonb;
