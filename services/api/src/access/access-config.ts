import { ConfigError, listOf, proxyVariables } from '@longshore/service';
import Type, { type Static } from 'typebox';

/** Variables about who may call, and how often. */
export const accessVariables = {
  /** Which credentials are accepted. By default none are asked for, but in production API keys. */
  API_AUTH: Type.Optional(Type.String({ pattern: '^(none|keys|jwt|keys, *jwt|jwt, *keys)$' })),
  /** A key with every scope: the text that its bearer sends, or `sha256:` and the hash of it in hex. */
  API_ADMIN_KEY: Type.Optional(Type.String({ minLength: 32, maxLength: 500, pattern: '^\\S+$' })),
  JWT_ISSUER: Type.Optional(Type.String()),
  JWT_AUDIENCE: Type.Optional(Type.String()),
  JWT_JWKS_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  JWT_CLOCK_TOLERANCE_S: Type.Integer({ minimum: 0, maximum: 300, default: 5 }),
  /** How many requests each caller may send on the long run; 0: any number. */
  RATE_LIMIT_PER_SECOND: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  /** How many at once, after a pause. */
  RATE_LIMIT_BURST: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000 })),
  ...proxyVariables,
};

const variables = Type.Object(accessVariables);

export type AccessConfig = Static<typeof variables> & { readonly NODE_ENV: string };

export type CredentialKind = 'keys' | 'jwt';

/** The kinds of credentials that are accepted; none: the API is open to all. */
export function acceptedKinds({ API_AUTH, NODE_ENV }: AccessConfig): ReadonlySet<CredentialKind> {
  const given = API_AUTH ?? (NODE_ENV === 'production' ? 'keys' : 'none');
  return new Set(listOf(given).filter((kind) => kind === 'keys' || kind === 'jwt'));
}

/** @throws {ConfigError} if variables contradict each other, or some are missing */
export function checkAccess(config: AccessConfig): void {
  const kinds = acceptedKinds(config);
  if (config.API_ADMIN_KEY !== undefined && !kinds.has('keys'))
    throw new ConfigError('API_ADMIN_KEY is set, but API keys are not accepted: set API_AUTH=keys');
  if (config.API_ADMIN_KEY?.startsWith('sha256:') && !/^sha256:[0-9a-f]{64}$/i.test(config.API_ADMIN_KEY))
    throw new ConfigError('API_ADMIN_KEY: after sha256: there must be 64 hexadecimal digits');
  const names = ['JWT_ISSUER', 'JWT_AUDIENCE', 'JWT_JWKS_URL'] as const;
  const missing = names.filter((name) => config[name] === undefined);
  if (kinds.has('jwt') && missing.length > 0)
    throw new ConfigError(`API_AUTH accepts JWTs, but ${missing.join(', ')} is not set`);
}
