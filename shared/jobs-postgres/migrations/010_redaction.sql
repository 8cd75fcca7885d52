-- Up Migration

-- Searches on behalf of people who may not see redacted values do not search them either, or they could be guessed letter by
-- letter. `redact` in TypeScript replaces the same values.

-- Returns whether values under a key are redacted. Also compares the key with hyphens between its words: `user-PIN` for
-- `userPIN`.
create function is_redacted(key text, pattern text) returns boolean language sql immutable parallel safe
return key collate "und-x-icu" ~* pattern
  or (key collate "C" ~ '[a-z0-9][A-Z]|[A-Z][A-Z][a-z]'
    and regexp_replace(key collate "C", '([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])', '\1\2-', 'g') collate "und-x-icu" ~* pattern);

-- Returns an object or an array in which redacted values are replaced by `"redacted"`. Takes a third of a millisecond for one
-- with four objects.
create function redacted(document jsonb, pattern text, depth integer default 0, is_element boolean default false)
returns jsonb language plpgsql immutable parallel safe as $$
declare
  is_entry boolean;
begin
  if depth = 64 then
    return '"…"'::jsonb;
  end if;
  if jsonb_typeof(document) = 'array' then
    is_entry := is_element and jsonb_array_length(document) = 2 and jsonb_typeof(document -> 0) = 'string'
      and longshore.is_redacted(document ->> 0, pattern);
    return (
      select coalesce(jsonb_agg(case
        when is_entry and element.place = 2 then '"redacted"'::jsonb
        when jsonb_typeof(element.item) in ('object', 'array') then longshore.redacted(element.item, pattern, depth + 1, true)
        else element.item
      end order by element.place), '[]'::jsonb)
      from jsonb_array_elements(document) with ordinality as element (item, place)
    );
  end if;
  is_entry := exists (
    select 1 from jsonb_each(document) as label (name, item)
    where lower(label.name) in ('name', 'key', 'field', 'header', 'parameter') and jsonb_typeof(label.item) = 'string'
      and longshore.is_redacted(label.item #>> '{}', pattern)
  );
  return (
    select coalesce(jsonb_object_agg(member.name, case
      when longshore.is_redacted(member.name, pattern) or (is_entry and lower(member.name) in ('value', 'values'))
        then '"redacted"'::jsonb
      when jsonb_typeof(member.item) in ('object', 'array') then longshore.redacted(member.item, pattern, depth + 1)
      else member.item
    end), '{}'::jsonb)
    from jsonb_each(document) as member (name, item)
  );
end
$$;
