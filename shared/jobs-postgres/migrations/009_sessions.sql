-- Up Migration

-- The settings of a session in which others run statements of ours (docs/adr/043).

-- Gives the settings of the session the values that the storage's statements expect, until leave_session() or the end of the
-- transaction. Does nothing if none has a value that makes a difference. The caller has set the search path.
create function enter_session() returns boolean language plpgsql as $$
begin
  if current_setting('client_encoding') = 'UTF8'
    and current_setting('datestyle') like 'ISO%'
    and current_setting('intervalstyle') = 'postgres'
    and current_setting('extra_float_digits')::integer >= 1
    and current_setting('bytea_output') = 'hex'
    and current_setting('array_nulls') = 'on'
    and current_setting('standard_conforming_strings') = 'on'
    and current_setting('backslash_quote') = 'safe_encoding'
    and current_setting('transform_null_equals') = 'off'
    and current_setting('quote_all_identifiers') = 'off'
    and current_setting('gin_fuzzy_search_limit') = '0' then
    return false;
  end if;
  perform set_config('job_session.deviates', 'on', true);
  perform set_config('job_session.' || name, current_setting(name), true), set_config(name, value, true)
  from (values
    ('client_encoding', 'UTF8'),
    ('datestyle', 'ISO, MDY'),
    ('intervalstyle', 'postgres'),
    ('timezone', 'UTC'),
    ('extra_float_digits', '1'),
    ('bytea_output', 'hex'),
    ('array_nulls', 'on'),
    ('standard_conforming_strings', 'on'),
    ('backslash_quote', 'safe_encoding'),
    ('transform_null_equals', 'off'),
    ('quote_all_identifiers', 'off'),
    ('gin_fuzzy_search_limit', '0')
  ) as setting (name, value);
  return true;
end
$$;

-- Restores the settings that enter_session() has changed.
create function leave_session() returns boolean language plpgsql as $$
begin
  if current_setting('job_session.deviates', true) is distinct from 'on' then
    return false;
  end if;
  perform set_config('job_session.deviates', '', true);
  perform set_config(name, current_setting('job_session.' || name), true)
  from unnest(array[
    'client_encoding', 'datestyle', 'intervalstyle', 'timezone', 'extra_float_digits', 'bytea_output', 'array_nulls', 'standard_conforming_strings', 'backslash_quote', 'transform_null_equals', 'quote_all_identifiers', 'gin_fuzzy_search_limit'
  ]) as name;
  return true;
end
$$;
