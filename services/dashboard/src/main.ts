import { text } from 'node:stream/consumers';
import { hashPassword } from '@longshore/jobs-dashboard';
import { runService } from '@longshore/service';
import {
  dashboardServiceVariables,
  findDashboardProblems,
  readDashboardConfig,
  startDashboard,
} from './dashboard-service.js';

if (process.argv[2] === 'hash-password') await printPasswordHash();
else
  process.exit(
    await runService({
      name: 'dashboard',
      environment: process.env,
      variables: dashboardServiceVariables,
      readConfig: readDashboardConfig,
      findProblems: findDashboardProblems,
      start: startDashboard,
      args: process.argv.slice(2),
    }),
  );

/** Reads a password from standard input and prints its hash, for use in `DASHBOARD_USERS`. */
async function printPasswordHash(): Promise<void> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, '');
  process.stdout.write(`${await hashPassword(password)}\n`);
}
