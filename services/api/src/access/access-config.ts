import { listOf, proxyVariables } from '@longshore/service';
import Type, { type Static } from 'typebox';

const host = String.raw`([\w-]+(\.[\w-]+)*|\[[\da-fA-F:.]+\])`;
/** Pattern of an origin as browsers send it: lower case and without a path. */
const origin = String.raw`https?://([a-z\d_-]+(\.[a-z\d_-]+)*|\[[\da-f:.]+\])(:\d{1,5})?`;

function commaSeparatedPattern(one: string): string {
  return ` *${one}( *, *${one})* *`;
}

/** Environment variables for authentication, for rate limits, and for the hosts and origins that may use the API. */
export const accessVariables = {
  /**
   * Accepted kinds of credentials. By default, production requires API keys, and other environments require no
   * credentials.
   */
  API_AUTH: Type.Optional(
    Type.String({
      pattern: '^(none|keys|jwt|keys, *jwt|jwt, *keys)$',
      expected: 'keys, jwt, keys,jwt or none',
    }),
  ),
  /** A key with every scope: either the key itself, or `sha256:` followed by its hash in hex. */
  API_ADMIN_KEY: Type.Optional(
    Type.String({
      minLength: 32,
      maxLength: 500,
      pattern: '^\\S+$',
      expected: 'free of spaces and line breaks',
      secret: true,
    }),
  ),
  API_JWT_ISSUER: Type.Optional(Type.String()),
  API_JWT_AUDIENCE: Type.Optional(Type.String()),
  API_JWT_JWKS_URL: Type.Optional(
    Type.String({ pattern: '^https?://', expected: 'a URL that begins with http:// or https://' }),
  ),
  /** The required `typ` header of a token, e.g. `at+jwt` (RFC 9068). By default, any value is accepted. */
  API_JWT_TYP: Type.Optional(
    Type.String({ pattern: '^[\\w!#$&^.+/-]{1,100}$', expected: 'a media type such as at+jwt' }),
  ),
  /** The prefix of this API's scopes in tokens, e.g. `longshore:`. Scopes without the prefix are ignored. */
  API_JWT_SCOPE_PREFIX: Type.String({
    pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]{0,200}$',
    expected: 'at most 200 characters that a scope may contain: ASCII without spaces, quotes and backslashes',
    default: '',
  }),
  API_JWT_CLOCK_TOLERANCE_S: Type.Integer({ minimum: 0, maximum: 300, default: 5 }),
  /**
   * Average number of requests per second that each caller may send; 0 for no limit. Defaults to 1,000 if the API
   * requires credentials, and to 0 otherwise.
   */
  API_RATE_LIMIT_PER_SECOND: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  /** Number of requests that a caller may send in a burst after a pause. By default, twice the rate per second. */
  API_RATE_LIMIT_BURST: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
  /**
   * Host names that the API accepts besides loopback names and the host of `API_BASE_URL`; comma-separated, without
   * ports.
   */
  HTTP_ALLOWED_HOSTS: Type.Optional(
    Type.String({
      pattern: `^${commaSeparatedPattern(host)}$`,
      expected: 'host names without ports, separated by commas',
    }),
  ),
  /** Origins whose pages may call the API from a browser, comma-separated, e.g. `https://app.example.com`. */
  API_CORS_ORIGINS: Type.Optional(
    Type.String({
      pattern: `^${commaSeparatedPattern(origin)}$`,
      expected: 'origins without a path, separated by commas, such as https://app.example.com',
    }),
  ),
  ...proxyVariables,
};

const variables = Type.Object(accessVariables);

export type AccessConfig = Static<typeof variables> & { readonly NODE_ENV: string };

export type CredentialKind = 'keys' | 'jwt';

/** Returns the accepted kinds of credentials. If there are none, callers need no credentials. */
export function acceptedKinds({ API_AUTH, NODE_ENV }: AccessConfig): ReadonlySet<CredentialKind> {
  const method = API_AUTH ?? (NODE_ENV === 'production' ? 'keys' : 'none');
  return new Set(listOf(method, 'API_AUTH').filter((kind) => kind === 'keys' || kind === 'jwt'));
}

/** Returns what is wrong with the authentication variables as a whole: contradictions, and what is missing or malformed. */
export function accessProblems(config: AccessConfig): string[] {
  const kinds = acceptedKinds(config);
  const { API_ADMIN_KEY: key, API_JWT_JWKS_URL: keySet, NODE_ENV } = config;
  const problems: string[] = [];
  if (key !== undefined && !kinds.has('keys'))
    problems.push(
      'API_ADMIN_KEY is set, but API keys are not accepted: set API_AUTH=keys, or leave API_ADMIN_KEY empty',
    );
  if (key?.startsWith('sha256:') && !/^sha256:[0-9a-f]{64}$/i.test(key))
    problems.push('API_ADMIN_KEY must have 64 hexadecimal digits after sha256:');
  const names = ['API_JWT_ISSUER', 'API_JWT_AUDIENCE', 'API_JWT_JWKS_URL'] as const;
  const missing = names.filter((name) => config[name] === undefined);
  if (kinds.has('jwt') && missing.length > 0)
    problems.push(`API_AUTH accepts JWTs, but ${missing.join(', ')} is not set`);
  if (keySet !== undefined && !URL.canParse(keySet))
    problems.push(
      'API_JWT_JWKS_URL is not a URL: use the address of the key set, such as https://…/jwks.json',
    );
  if (NODE_ENV === 'production' && keySet?.startsWith('http://'))
    problems.push(
      'API_JWT_JWKS_URL must begin with https:// in production: over plain HTTP, anyone on the network path could replace the keys',
    );
  return problems;
}
