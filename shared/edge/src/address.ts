import { isIPv6 } from 'node:net';

/**
 * Returns the network of a client's address, for limits per client: an IPv4 address as it is, and the /64 network of an
 * IPv6 address, because one client can use all addresses of such a network. An IPv4 address that is written as IPv6
 * (`::ffff:192.0.2.1`) is the IPv4 address.
 */
export function networkOf(address: string): string {
  const [plain = ''] = address.split('%'); // without the zone of a link-local address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.toLowerCase().split('::');
  const [first = [], last = []] = [head, tail].map((part) => part.split(':').filter(Boolean));
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const groups = plain.includes('::') ? [...first, ...zeros, ...last] : first;
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}

/** The options of a Koa application that depend on the proxies in front of it. */
interface ProxyOptions {
  readonly proxy: boolean;
  readonly maxIpsCount: number;
}

/**
 * Creates the Koa application of a service or of a mounted dashboard. With `trustedProxies`, client addresses come from
 * `X-Forwarded-For`, counted from its end: each proxy appends the address from which it was called, and what a client
 * sends itself stands before that.
 *
 * @param Application the class `Koa`; this package does not depend on it
 * @param trustedProxies how many proxies every request passes; 0 ignores the headers of proxies
 * @throws {TypeError} if `trustedProxies` is not an integer from 0 to 100
 */
export function createApplication<App>(
  Application: new (options: ProxyOptions) => App,
  trustedProxies: number,
): App {
  if (!Number.isInteger(trustedProxies) || trustedProxies < 0 || trustedProxies > 100)
    throw new TypeError(
      `trustedProxies must be the number of proxies in front of this process, from 0 to 100, not ${String(trustedProxies)}`,
    );
  return new Application({ proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
}
