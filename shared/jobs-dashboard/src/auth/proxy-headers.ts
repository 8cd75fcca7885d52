import { BlockList, isIP } from 'node:net';
import { type Authorize, type RoleMapping, roleOf } from './authenticator.js';

/** Options for trusting the headers of an authenticating proxy, such as oauth2-proxy, Pomerium or Cloudflare Access. */
export interface ProxyHeaderOptions extends RoleMapping {
  /** The header with the user's name, such as `X-Forwarded-User`. */
  readonly userHeader: string;
  /** The header with the user's groups. Without it, every user gets the `defaultRole`. */
  readonly groupsHeader?: string | undefined;
  /** The separator of the groups in `groupsHeader`. Defaults to a comma; Authentik sends `|`. */
  readonly groupsSeparator?: string | undefined;
  /**
   * Addresses and networks of the proxies, such as `10.0.0.0/8`. Requests from other addresses are refused, because
   * anyone could send these headers.
   */
  readonly addresses: readonly string[];
}

/**
 * Returns an {@link Authorize} function that trusts the headers of an authenticating proxy. The proxy must overwrite
 * these headers if a client sends them.
 *
 * @throws {TypeError} if an option is invalid, or no user could get a role
 */
export function trustProxyHeaders(options: ProxyHeaderOptions): Authorize {
  const { userHeader, groupsHeader, groupsSeparator = ',', defaultRole } = options;
  if (groupsSeparator === '') throw new TypeError('The separator of groups must not be empty');
  if (groupsHeader === undefined && defaultRole === undefined)
    throw new TypeError('Without a groups header, users need a default role');
  const proxies = listOf(options.addresses);
  return ({ req }) => {
    const { remoteAddress = '' } = req.socket;
    const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/, '');
    if (isIP(address) === 0 || !proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')) return null;
    const name = textOf(req.headers[userHeader.toLowerCase()]);
    if (name === '') return null;
    const groups = groupsHeader === undefined ? '' : textOf(req.headers[groupsHeader.toLowerCase()]);
    const role = roleOf(
      groups.split(groupsSeparator).map((group) => group.trim()),
      options,
    );
    return role === null ? null : { name, role };
  };
}

function textOf(header: string | readonly string[] | undefined): string {
  return (Array.isArray(header) ? header.join(',') : (header ?? '')).toString().trim();
}

function listOf(addresses: readonly string[]): BlockList {
  if (addresses.length === 0)
    throw new TypeError('Name the addresses of the proxies whose headers are trusted');
  const list = new BlockList();
  for (const text of addresses) {
    const [address = '', prefix] = text.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    const bits = prefix === undefined ? undefined : Number(prefix);
    const isValid = isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(prefix ?? ''));
    try {
      if (!isValid) throw new TypeError('neither an address nor a network');
      if (bits === undefined) list.addAddress(address, type);
      else list.addSubnet(address, bits, type);
    } catch (error) {
      throw new TypeError(`“${text}” is not an IP address or a network such as 10.0.0.0/8`, { cause: error });
    }
  }
  return list;
}
