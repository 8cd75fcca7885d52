export type { AccessEvent, AccessRecord, OnAccess } from './access/access-record.js';
export type { Authorize, Role, Viewer } from './access/viewer.js';
export type { ActionRecord } from './actions/audited.js';
export type { DashboardControl } from './actions/control.js';
export { createDashboard } from './dashboard.js';
export { defaultRedaction } from './format/redaction.js';
export { setSecurityHeaders } from './http/security-headers.js';
export type { DashboardOptions } from './options.js';
export type { DashboardReader } from './reading/dashboard-reader.js';
