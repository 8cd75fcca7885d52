import { expect } from 'chai';
import pg from 'pg';
import { CompiledPrograms, type DocsProgram, docsPrograms } from './docs/docs-program.js';
import { startPostgres, type Postgres } from './system/postgres.js';

const programs = await docsPrograms();

/**
 * A program that creates the tables in a template database. Copying this database for each program is faster than
 * migrating each time.
 */
const migration: DocsProgram = {
  place: 'migration',
  language: 'ts',
  text: `import { PostgresStorage } from 'longshore';
const storage = new PostgresStorage({ url: process.env['DATABASE_URL'] ?? '' });
await storage.open();
await storage.close();
`,
  output: '',
};
const template = 'docs_template';

/**
 * Page with the reader's first program. Programs on this page run on a database without tables, as on a reader's
 * machine.
 */
const first = 'docs/jobs/first-job.md';

describe('a program in the documentation', () => {
  let compiled: CompiledPrograms;
  let postgres: Postgres;

  before(async () => {
    compiled = await CompiledPrograms.compile([migration, ...programs]);
    postgres = await startPostgres();
    await compiled.run(migration, await createDatabase(postgres.url, template));
  });

  after(async () => {
    await postgres.remove();
    await compiled.remove();
  });

  const outputs = programs.map((program, index) =>
    once(async () => {
      const original = program.place.startsWith(first) ? undefined : template;
      return compiled.run(program, await createDatabase(postgres.url, `docs_${index}`, original));
    }),
  );

  for (const [index, program] of programs.entries()) {
    it(`prints the documented output (${program.place})`, async () => {
      const output = outputs[index]?.();
      // Starts the next program early, because programs spend most of their time waiting. The next test reports errors
      // of that program.
      outputs[index + 1]?.().catch(() => undefined);
      expect(await output).to.equal(program.output);
    });
  }
});

/** Wraps `run` so that all calls share the result of the first call. */
function once<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => (running ??= run());
}

/**
 * Creates a database on the server of `besideUrl` by copying the database `original`, by default an empty template.
 * Resolves to the new database's URL.
 */
async function createDatabase(besideUrl: string, name: string, original = 'template1'): Promise<string> {
  const admin = new pg.Client(besideUrl);
  await admin.connect();
  await admin.query(`create database ${name} template ${original} strategy file_copy`);
  await admin.end();
  const url = new URL(besideUrl);
  url.pathname = `/${name}`;
  return url.href;
}
