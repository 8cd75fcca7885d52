/**
 * Mocha hooks for a whole run, registered in `.mocharc.yaml`. Importing this module makes `fetch` check responses
 * against the API's OpenAPI document.
 */
import { checkFetchedAnswers } from './api-client.js';
import { dropTemplates, undroppedDatabases } from './test-database.js';
import { stopTestPostgres } from './test-postgres.js';

checkFetchedAnswers();

/** How long the process may take to end after the last test, in milliseconds. */
const lingerMs = 15_000;

export const mochaHooks = {
  afterAll(): void {
    const creators = undroppedDatabases();
    if (creators.length > 0) throw new Error(`Test databases that were not dropped:\n${creators.join('\n')}`);
  },
};

export async function mochaGlobalTeardown(): Promise<void> {
  await dropTemplates();
  await stopTestPostgres();
  // The timer does not keep the process running. It fires only if something else does.
  setTimeout(() => {
    console.error(`Something keeps the tests from ending: ${process.getActiveResourcesInfo().join(', ')}`);
    // Mocha sets the exit code to the number of failures, which may be 0. This listener runs later and replaces it.
    process.once('exit', () => (process.exitCode = 1));
    process.exit();
  }, lingerMs).unref();
}
