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
 * Whether the request comes straight from this machine: a loopback peer, no trace of a proxy in between, and addressed
 * to a loopback name, which a page of a foreign site cannot do by pointing its own name at 127.0.0.1 (DNS rebinding).
 * HTTP/1.0 is what nginx speaks by default, and then it says nothing of those it speaks for.
 */
export function isDirectLoopback(request: IncomingMessage): boolean {
  return (
    isLoopbackAddress(request.socket.remoteAddress) &&
    request.httpVersion !== '1.0' &&
    !Object.keys(request.headers).some(
      (name) => forwardingHeaders.has(name) || name.startsWith('x-forwarded'),
    ) &&
    isLoopbackName(request.headers.host)
  );
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address === '::1' || /^(::ffff:)?127\.\d+\.\d+\.\d+$/.test(address ?? '');
}

function isLoopbackName(host: string | undefined): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(host ?? '');
}
