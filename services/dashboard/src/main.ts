import { runService } from '@longshore/service';
import { startDashboard } from './dashboard-service.js';
import { readDashboardConfig } from './config.js';
import { printPasswordHash } from './hash-password.js';

if (process.argv[2] === 'hash-password') await printPasswordHash();
else
  process.exit(
    await runService({
      name: 'dashboard',
      environment: process.env,
      readConfig: readDashboardConfig,
      start: startDashboard,
    }),
  );
