import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import pg from 'pg';

/**
 * A value other than the default for each setting that could change what a statement means, what it returns, or how it is
 * planned. `null` for a setting whose value cannot be changed here, because other values need other libraries or locales.
 */
const odd: Readonly<Record<string, string | null>> = {
  // What text stands for a value, and the reverse.
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Chatham',
  timezone_abbreviations: 'India',
  extra_float_digits: '-15',
  bytea_output: 'escape',
  xmlbinary: 'hex',
  xmloption: 'document',
  client_encoding: 'LATIN1',
  lc_messages: null,
  lc_monetary: null,
  lc_numeric: null,
  lc_time: null,
  default_text_search_config: 'pg_catalog.german',
  icu_validation_level: 'error',
  // What the text of a statement means.
  array_nulls: 'off',
  backslash_quote: 'on',
  escape_string_warning: 'off',
  quote_all_identifiers: 'on',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  search_path: 'hostile, pg_catalog',
  check_function_bodies: 'off',
  // What a statement does.
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  gin_fuzzy_search_limit: '1',
  row_security: 'off',
  session_replication_role: 'replica',
  event_triggers: 'off',
  synchronize_seqscans: 'off',
  synchronous_commit: 'local',
  stats_fetch_consistency: 'snapshot',
  client_min_messages: 'debug1',
  lo_compat_privileges: 'on',
  createrole_self_grant: 'set',
  default_toast_compression: 'pglz',
  track_functions: 'all',
  password_encryption: 'md5',
  // How a statement is planned.
  constraint_exclusion: 'off',
  cursor_tuple_fraction: '1',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  geqo: 'off',
  jit: 'on',
  jit_above_cost: '0',
  plan_cache_mode: 'force_custom_plan',
  recursive_worktable_factor: '1000',
  default_statistics_target: '1',
  parallel_leader_participation: 'off',
};

/** Settings that are the operator's, by category or name: the storage neither sets them nor depends on them. */
const operators =
  /^(Resource Usage|Reporting and Logging|Statistics|Vacuuming|Write-Ahead Log|Developer Options|Replication|Query Tuning \/ (Planner Cost|Genetic)|Connections and Authentication|Lock Management|Error Handling|Client Connection Defaults \/ Shared Library)/;

/** Further settings of the operator. */
const operatorsSettings = new Set([
  // Limits of time, which `limits` sets or an operator may.
  'statement_timeout',
  'lock_timeout',
  'transaction_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
  // Whether writes are allowed. They then fail as unavailable (read-only.test.ts).
  'default_transaction_read_only',
  'transaction_read_only',
  'transaction_deferrable',
  'transaction_isolation',
  // Where and how data are kept.
  'default_table_access_method',
  'default_tablespace',
  'temp_tablespaces',
  'dynamic_library_path',
  'extension_destdir', // Debian's Postgres 15
  'extension_control_path',
  'gin_pending_list_limit',
  // Forbids reading views, so nothing can work with it; meant for pg_dump.
  'restrict_nonsystem_relation_kind',
  // Of vacuuming, in Postgres 15 among the settings of clients.
  'vacuum_failsafe_age',
  'vacuum_freeze_min_age',
  'vacuum_freeze_table_age',
  'vacuum_multixact_failsafe_age',
  'vacuum_multixact_freeze_min_age',
  'vacuum_multixact_freeze_table_age',
  // Settings of JIT for its developers; JIT is off.
  'jit_expressions',
  'jit_tuple_deforming',
  'jit_inline_above_cost',
  'jit_optimize_above_cost',
]);

interface Setting {
  readonly name: string;
  readonly category: string;
  readonly setting: string;
}

/** Returns the value that the tests give a setting; `undefined` for a setting of the operator or an unknown one. */
function oddValue({ name, setting }: Setting): string | null | undefined {
  if (name.startsWith('enable_')) return setting === 'on' ? 'off' : 'on';
  return odd[name];
}

/** The settings that a session can change, from `pg_settings`. */
async function settingsOf(database: TestDatabase): Promise<readonly Setting[]> {
  return database.query<Setting & Record<string, string>>(
    `select name, category, setting from pg_settings where context in ('user', 'superuser') order by name`,
  );
}

/** Returns the settings that this file neither changes nor lists as the operator's. */
export async function undecidedSettings(database: TestDatabase): Promise<readonly string[]> {
  return (await settingsOf(database))
    .filter(
      (one) =>
        oddValue(one) === undefined && !operators.test(one.category) && !operatorsSettings.has(one.name),
    )
    .map(({ name }) => name);
}

/** Functions and operators that hide those of Postgres, because the odd search path names their schema first. */
const hostile = `
  create schema hostile;
  create function hostile.now() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$;
  create function hostile.clock_timestamp() returns timestamptz language sql as $$ select 'epoch'::timestamptz $$;
  create function hostile.set_config(text, text, boolean) returns text language sql as $$ select 'hostile' $$;
  create function hostile.current_setting(text) returns text language sql as $$ select 'hostile' $$;
  create function hostile.count(integer) returns bigint language sql as $$ select 666::bigint $$;
  create function hostile.lower(text) returns text language sql as $$ select 'hostile' $$;
  create function hostile.jsonb_typeof(jsonb) returns text language sql as $$ select 'hostile' $$;
  create function hostile.unnest(integer[]) returns setof integer language sql as $$ select 666 where false $$;
  create function hostile.unnest(uuid[]) returns setof uuid language sql as $$ select null::uuid where false $$;
  create function hostile.unnest(text[]) returns setof text language sql as $$ select 'hostile' where false $$;
  create function hostile.never(integer, integer) returns boolean language sql as $$ select false $$;
  create function hostile.never(text, text) returns boolean language sql as $$ select false $$;
  create function hostile.never(uuid, uuid) returns boolean language sql as $$ select false $$;
  create function hostile.never(jsonb, text) returns text language sql as $$ select 'hostile' $$;
  create operator hostile.= (function = hostile.never, leftarg = integer, rightarg = integer);
  create operator hostile.= (function = hostile.never, leftarg = text, rightarg = text);
  create operator hostile.= (function = hostile.never, leftarg = uuid, rightarg = uuid);
  create operator hostile.->> (function = hostile.never, leftarg = jsonb, rightarg = text);
  create domain hostile.timestamptz as text;
  create domain hostile.jsonb as text;
  create domain hostile.uuid as text;`;

/**
 * Creates an empty database in which each setting has an odd value. `query` of the returned database has
 * a session with the usual values.
 */
export async function createOddDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  const changed = (await settingsOf(database)).filter((setting) => typeof oddValue(setting) === 'string');
  await database.query(hostile);
  for (const setting of changed)
    await database.query(`alter database ${database.name} set ${setting.name} = ${valueOf(setting)}`);
  const usual = changed.map(
    ({ name, setting }) => `-c ${name}=${setting.replaceAll(/[\\ ]/g, String.raw`\$&`)}`,
  );
  const config = {
    connectionString: database.url,
    options: usual.join(' '),
    application_name: 'test-support',
  };
  return {
    ...database,
    query: async <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) => {
      const client = new pg.Client(config);
      await client.connect();
      try {
        return (await client.query<Row>(sql, [...values])).rows;
      } finally {
        await client.end();
      }
    },
  };
}

function valueOf(setting: Setting): string {
  const value = oddValue(setting) ?? '';
  return setting.name === 'search_path' ? value : pg.escapeLiteral(value);
}
