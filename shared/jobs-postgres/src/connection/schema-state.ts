import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { fromDriver } from './errors.js';
import { type MigrationFiles, textsOf } from './migration-files.js';

/** How far a schema is migrated, compared with the migrations that this program has. */
export interface SchemaState {
  readonly exists: boolean;
  /** The program's migrations that have not been run, in order. */
  readonly pending: readonly string[];
  /** Migrations that were run by a newer version of the program, in order. */
  readonly unknown: readonly string[];
  /** The first migration that makes this program unusable, and the migration that a program must know instead. */
  readonly refusal: { readonly name: string; readonly needs: string } | null;
}

interface Requirement {
  readonly name: string;
  readonly needs: string;
}

/**
 * The comment with which a migration excludes older programs: `-- Needs: 016_incidents`. Programs that do not know that
 * migration refuse to start once this one has been run.
 */
const header = /^-- Needs: (\S+)$/m;

/** Reads the state of a schema. Changes nothing. */
export async function readSchemaState(
  client: pg.Client,
  schema: string,
  files: MigrationFiles,
): Promise<SchemaState> {
  const known = await namesOf(files);
  const { rows } = await fromDriver(
    client.query<{ exists: boolean; migrated: boolean; limited: boolean }>(
      `select exists (select from pg_namespace where nspname = $1) as exists,
         to_regclass(format('%I.migration', $1)) is not null as migrated,
         to_regclass(format('%I.migration_requirement', $1)) is not null as limited`,
      [schema],
    ),
  );
  const [found = { exists: false, migrated: false, limited: false }] = rows;
  if (!found.migrated) return { exists: found.exists, pending: known, unknown: [], refusal: null };
  const within = client.escapeIdentifier(schema);
  const applied = await fromDriver(client.query<{ name: string }>(`select name from ${within}.migration`));
  const names = new Set(applied.rows.map(({ name }) => name));
  const required = found.limited
    ? `select name, needs from ${within}.migration_requirement join ${within}.migration using (name) order by name`
    : 'select from pg_class where false';
  const requirements = (await fromDriver(client.query<Requirement>(required))).rows;
  const isKnown = new Set(known);
  return {
    exists: true,
    pending: known.filter((name) => !names.has(name)),
    unknown: [...names].filter((name) => !isKnown.has(name)).toSorted(),
    refusal: requirements.find(({ needs }) => !isKnown.has(needs)) ?? null,
  };
}

/**
 * Records which programs the given migrations exclude, before they are run. A record counts only once its migration has
 * been run.
 */
export async function noteRequirements(
  client: pg.Client,
  schema: string,
  files: MigrationFiles,
  names: readonly string[],
): Promise<void> {
  const required: Requirement[] = [];
  for (const [file, text] of Object.entries(await textsOf(files))) {
    const { name } = path.parse(file);
    const needs = header.exec(text)?.[1];
    if (needs !== undefined && names.includes(name)) required.push({ name, needs });
  }
  if (required.length === 0) return;
  const table = `${client.escapeIdentifier(schema)}.migration_requirement`;
  await fromDriver(
    client.query(`create table if not exists ${table} (name text primary key, needs text not null)`),
  );
  await fromDriver(
    client.query(
      `insert into ${table} (name, needs) select * from unnest($1::text[], $2::text[])
       on conflict (name) do update set needs = excluded.needs`,
      [required.map(({ name }) => name), required.map(({ needs }) => needs)],
    ),
  );
}

/** Returns the names of the migrations in order. */
async function namesOf(files: MigrationFiles): Promise<string[]> {
  const found = files instanceof URL ? await readdir(files) : Object.keys(files);
  return found
    .filter((file) => !file.startsWith('.'))
    .map((file) => path.parse(file).name)
    .toSorted();
}
