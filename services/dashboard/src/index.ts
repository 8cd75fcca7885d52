export { type DashboardConfig, readDashboardConfig } from './config.js';
export { startDashboard } from './dashboard-service.js';
