import { isIP } from 'node:net';
import { shorten } from '@longshore/edge';
import type Koa from 'koa';
import { listOf } from './config.js';

/**
 * Rejects requests for `/metrics` with a foreign `Host` header. Otherwise a web page could read the metrics by pointing
 * its own host name at this service (DNS rebinding). IP addresses and `localhost` are always accepted, because an
 * attacker cannot redirect them.
 *
 * @param allowedHosts additional host names, comma-separated, without ports
 */
export function metricsGuard(allowedHosts = ''): Koa.Middleware {
  const names = new Set([
    'localhost',
    ...listOf(allowedHosts, 'HTTP_ALLOWED_HOSTS').map((name) => name.toLowerCase()),
  ]);
  return async (context, next) => {
    const { host = '' } = context.req.headers;
    const name = host.replace(/:\d*$/, '').toLowerCase();
    const isServed = names.has(name) || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
    if (context.path !== '/metrics' || isServed) {
      await next();
      return;
    }
    context.status = 421;
    context.body = {
      reason: `The request is for the host "${shorten(host, 200)}"; add it to HTTP_ALLOWED_HOSTS if it is a name of this service`,
    };
  };
}
