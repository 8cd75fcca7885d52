/** What mocha does around a whole run; registered in `.mocharc.yaml`. */
import { dropTemplates, undroppedDatabases } from './test-database.js';
import { stopTestPostgres } from './test-postgres.js';

/** How long the process may take to end by itself after the last test. */
const lingerMs = 3_000;

export const mochaHooks = {
  afterAll(): void {
    const creators = undroppedDatabases();
    if (creators.length > 0) throw new Error(`Test databases nobody dropped:\n${creators.join('\n')}`);
  },
};

export async function mochaGlobalTeardown(): Promise<void> {
  await dropTemplates();
  await stopTestPostgres();
  // Does not hold the process: the timer only ever fires if something else does.
  setTimeout(() => {
    console.error(`Something keeps the tests from ending: ${process.getActiveResourcesInfo().join(', ')}`);
    // Mocha sets the number of failures as exit code when the process ends; this comes after it.
    process.once('exit', () => (process.exitCode = 1));
    process.exit();
  }, lingerMs).unref();
}
