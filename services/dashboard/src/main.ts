import { runService } from '@longshore/service';
import { dashboardServiceVariables, readDashboardConfig } from './config.js';
import { startDashboard } from './dashboard-service.js';
import { printPasswordHash } from './hash-password.js';

if (process.argv[2] === 'hash-password') await printPasswordHash();
else
  process.exit(
    await runService({
      name: 'dashboard',
      environment: process.env,
      variables: dashboardServiceVariables,
      readConfig: readDashboardConfig,
      start: startDashboard,
      args: process.argv.slice(2),
    }),
  );
