-- Up Migration

-- As in 010, but the last bit is one: servers check the arguments of jobs with such ids before they run them.
create or replace function new_id() returns uuid language sql parallel safe
return encode(
  set_bit(set_bit(set_bit(
    overlay(uuid_send(gen_random_uuid())
      placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 120, 1),
  'hex')::uuid;
