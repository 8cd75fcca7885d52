import { runService } from '@longshore/service';
import { startDashboard } from './dashboard-service.js';
import { readDashboardConfig } from './config.js';

process.exit(
  await runService({
    name: 'dashboard',
    environment: process.env,
    readConfig: readDashboardConfig,
    start: startDashboard,
  }),
);
