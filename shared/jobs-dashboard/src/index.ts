/**
 * The dashboard, to be mounted in your own application.
 *
 * @module @longshore/jobs-dashboard
 */
export type { AccessEvent, AccessRecord, OnAccess } from './auth/authenticator.js';
export type { OpenIdOptions } from './auth/openid-provider.js';
export { hashPassword } from './auth/passwords.js';
export type { User } from './auth/passwords.js';
export type { ProxyHeaderOptions } from './auth/proxy-headers.js';
export type { RoleMapping } from './auth/authenticator.js';
export type { Authorize, Role, Viewer } from './auth/authenticator.js';
export { type AlertOptions, AlertSender } from './alerts/alert-sender.js';
export type { WebhookFormat } from './alerts/webhook.js';
export type { WebhookOptions } from './alerts/webhook.js';
export type { ActionRecord } from './actions/action.js';
export { createDashboard } from './dashboard.js';
export { createDashboardHandler, type DashboardHandler, type DashboardHandlerOptions } from './dashboard.js';
export { defaultRedaction } from '@longshore/jobs/storage';
export { setSecurityHeaders } from './http/response.js';
export type { DashboardOptions } from './options.js';
export type { DashboardReader, DashboardStorage, IncidentRecorder } from './reading/dashboard-reader.js';
