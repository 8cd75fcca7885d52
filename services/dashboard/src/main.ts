import { runService } from '@longshore/service';
import { startDashboard } from './dashboard-service.js';
import { dashboardServiceVariables, readDashboardConfig } from './config.js';

process.exit(
  await runService({
    name: 'dashboard',
    environment: process.env,
    variables: dashboardServiceVariables,
    readConfig: readDashboardConfig,
    start: startDashboard,
  }),
);
