export type { Authorize, Role, Viewer } from './access/viewer.js';
export { createDashboard } from './dashboard.js';
export { defaultRedaction } from './format/redaction.js';
export type { DashboardOptions } from './options.js';
