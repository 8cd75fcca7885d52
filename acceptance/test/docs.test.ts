import { expect } from 'chai';
import pg from 'pg';
import { CompiledPrograms, docsPrograms } from './docs/docs-program.js';
import { startPostgres, type Postgres } from './system/postgres.js';

const programs = await docsPrograms();

describe('a program in the documentation', function () {
  this.timeout(90_000);
  let compiled: CompiledPrograms;
  let postgres: Postgres;

  before(async function () {
    this.timeout(60_000);
    compiled = await CompiledPrograms.compile(programs);
    postgres = await startPostgres();
  });

  after(async () => {
    await postgres.remove();
    await compiled.remove();
  });

  const outputs = programs.map((program, index) =>
    once(async () => compiled.run(program, await createDatabase(postgres.url, `docs_${index}`))),
  );

  for (const [index, program] of programs.entries()) {
    it(`prints the documented output (${program.place})`, async () => {
      const output = outputs[index]?.();
      // Starts the next program in parallel, because programs mostly wait. Its errors are reported by its own test.
      outputs[index + 1]?.().catch(() => undefined);
      expect(await output).to.equal(program.output);
    });
  }
});

/** Calls `run` only once; every call returns its result. */
function once<T>(run: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => (running ??= run());
}

/** Creates an empty database on the same server as another one, and resolves to its URL. */
async function createDatabase(besideUrl: string, name: string): Promise<string> {
  const admin = new pg.Client(besideUrl);
  await admin.connect();
  await admin.query(`create database ${name}`);
  await admin.end();
  const url = new URL(besideUrl);
  url.pathname = `/${name}`;
  return url.href;
}
