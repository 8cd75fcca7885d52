import type { IncomingMessage } from 'node:http';

/** Headers that a proxy adds, besides all that begin with `x-forwarded`. */
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
 * Whether the request comes straight from this machine and is addressed to it by a loopback name. A page of a foreign
 * site that points its own name at 127.0.0.1 (DNS rebinding) sends that name as `Host`.
 */
export function isDirectLoopback(request: IncomingMessage): boolean {
  return isDirectFromLoopback(request) && isLoopbackHost(request.headers.host);
}

/**
 * Whether the peer is this machine and no proxy in between has left a trace. HTTP/1.0 counts as one: nginx speaks it to
 * its upstreams by default and names no client then.
 */
export function isDirectFromLoopback({ socket, httpVersion, headers }: IncomingMessage): boolean {
  return (
    isLoopbackAddress(socket.remoteAddress) &&
    httpVersion !== '1.0' &&
    !Object.keys(headers).some((name) => forwardingHeaders.has(name) || name.startsWith('x-forwarded'))
  );
}

/** Whether a `Host` header, with or without a port, is a loopback name or address. */
export function isLoopbackHost(host: string | undefined): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host ?? '');
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address ?? '');
}
