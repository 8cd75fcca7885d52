export { type DashboardConfig, dashboardServiceVariables, readDashboardConfig } from './config.js';
export { startDashboard } from './dashboard-service.js';
