/**
 * Checks of where a request comes from, without the rest of the dashboard.
 *
 * @module @longshore/jobs-dashboard/request-origin
 */
export { isDirectFromLoopback, isLoopbackHost } from './auth/loopback.js';
export { isSameOrigin } from './http/same-origin.js';
