/**
 * Checks of where a request comes from, without the rest of the dashboard.
 *
 * @module @longshore/jobs-dashboard/request-origin
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';

/** Headers that reveal a proxy, apart from `x-forwarded-*`. */
const forwardingHeaders = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-original-forwarded-for',
  'x-envoy-external-address',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
]);

/**
 * Returns whether the request comes directly from this machine and is addressed to a loopback name. Checking the name
 * prevents DNS rebinding: if a website resolves its own name to 127.0.0.1, browsers send that name as `Host`.
 */
export function isDirectLoopback(request: IncomingMessage): boolean {
  return isDirectFromLoopback(request) && isLoopbackHost(request.headers.host);
}

/**
 * Returns whether the request comes from this machine without passing through a proxy. HTTP/1.0 counts as a sign of a
 * proxy, because nginx by default forwards requests with HTTP/1.0 and without the client's address.
 */
export function isDirectFromLoopback({ socket, httpVersion, headers }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    httpVersion !== '1.0' &&
    !Object.keys(headers).some((name) => forwardingHeaders.has(name) || name.startsWith('x-forwarded'))
  );
}

/** Returns whether a `Host` header, with or without a port, is a loopback name or address. */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host ?? '');
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address ?? '');
}

/**
 * Returns whether a request was sent by a page of this origin or directly by the user, according to `Sec-Fetch-Site`.
 * If that header is missing (plain HTTP, old browsers), compares `Origin` with `Host`. A request with neither
 * `Sec-Fetch-Site` nor `Origin` does not come from a browser, so no other site can have forged it. (Valsorda,
 * “Cross-Site Request Forgery”, 2025.)
 *
 * @param configuredOrigin the origin at which browsers reach this service, such as `https://ops.example.com`. Needed
 *   behind a proxy that passes on another `Host`; pages of this origin always count as the service's own
 */
export function isSameOrigin(ctx: Context, configuredOrigin?: string): boolean {
  const origin = ctx.get('Origin');
  if (configuredOrigin !== undefined && origin === configuredOrigin) return true;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  if (origin === '') return true;
  return URL.canParse(origin) && new URL(origin).host === ctx.host.toLowerCase();
}
