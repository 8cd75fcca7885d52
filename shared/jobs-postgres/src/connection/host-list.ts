/** What a server must be like; the values of libpq's `target_session_attrs`. */
const attributes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
export type SessionAttributes = (typeof attributes)[number];

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** The servers that a URL names, and which of them to use. */
export interface HostList {
  readonly hosts: readonly Host[];
  readonly attributes: SessionAttributes;
}

/** A URL for the driver, which knows one host and no attributes, and what it does not know. */
interface PlainUrl {
  readonly url: string;
  readonly hosts?: HostList;
}

/**
 * Separates the hosts and `target_session_attrs` from a Postgres URL.
 *
 * @param option name of the option that contains the URL, for error messages
 * @throws {RangeError} if a host or the attribute is invalid. Messages contain no part of the URL
 */
export function hostsOfUrl(option: string, url: string): PlainUrl {
  const [, start = '', list = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const parameters = new URLSearchParams(query.slice(1));
  if (parameters.get('host')?.includes(',') === true)
    throw new RangeError(`${option} names several hosts in a parameter: write them before the path instead`);
  const names = list.split(',');
  const attribute = parameters.get('target_session_attrs');
  if (names.length === 1 && attribute === null) return { url };
  const wanted = attributes.find((name) => name === (attribute ?? 'any'));
  if (wanted === undefined)
    throw new RangeError(`${option} has an unknown target_session_attrs: give ${attributes.join(', ')}`);
  const hosts = names.map((name) => hostOf(option, name));
  const rest = query.replace(/([?&])target_session_attrs=[^&#]*&?/, '$1').replace(/[?&]$/, '');
  return { url: `${start}${names[0] ?? ''}${path}${rest}`, hosts: { hosts, attributes: wanted } };
}

function hostOf(option: string, name: string): Host {
  const [, address, host = address, port = '5432'] =
    /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(name) ?? [];
  if (host === undefined)
    throw new RangeError(`${option} has an invalid list of hosts: give host:port,host:port`);
  return { host: decodeURIComponent(host), port: Number(port) };
}
