import type { JobDefinition } from '@longshore/jobs';
import type { Clock } from '@longshore/jobs/storage';
import {
  type AccessControl,
  type ApiRequest,
  type Authenticate,
  classifySqlError,
  type Principal,
  type Resource,
  type RowScopes,
  type ScopeOf,
  type SecuritySchemes,
  Throttle,
  unauthorized,
} from '@longshore/resources';
import type { Logger, OutageWatch } from '@longshore/service';
import { acceptedKinds, type AccessConfig, type CredentialKind } from './access-config.js';
import type { ApiKeyStore } from './api-key-store.js';
import { apiKeyId, hashOf, isHashOf, type Scope } from './api-key.js';
import { apiKeys, apiKeysResource } from './api-keys-resource.js';
import { tokenVerifier } from './json-web-token.js';
import { KeyRing } from './key-ring.js';

/** Authentication and rate limits of the API. */
export interface Access extends AccessControl {
  /** The accepted credentials, for the OpenAPI document. */
  readonly securitySchemes: SecuritySchemes;
  /** The `/api-keys` resource if API keys are accepted; otherwise empty. */
  readonly resources: readonly Resource[];
}

/** Default rate limit of each caller, in requests per second, if the API requires credentials. */
const defaultPerSecond = 1_000;

/**
 * Sets up authentication and rate limits as configured. Logs a warning if the API requires no credentials.
 *
 * @param outages reports that the storage of the keys is unavailable
 * @param clock the storage's clock, which determines when API keys and tokens expire
 */
export function createAccess(
  config: AccessConfig & { readonly API_REQUIRE_REASONS: boolean },
  store: ApiKeyStore,
  logger: Logger,
  clock: Clock,
  outages: OutageWatch,
): Access {
  const kinds = acceptedKinds(config);
  const rateLimit = rateLimitOf(config, kinds);
  if (kinds.size === 0) {
    logger.warn(
      {},
      config.API_AUTH === undefined
        ? 'API_AUTH is not set: clients on this machine can do everything, and all others are rejected'
        : 'API_AUTH=none: anyone who can reach the API can do everything',
    );
    return { authenticate: undefined, rateLimit, securitySchemes: {}, resources: [] };
  }
  logger.info({ credentials: [...kinds] }, 'the API requires credentials');
  const ring = new KeyRing(store, {
    now: () => clock.now(),
    onError: (error) => {
      const isUnavailable = classifySqlError(error, true)?.status === 503;
      if (isUnavailable) outages.check();
      else logger.warn({ err: error }, 'the last use of an API key could not be recorded');
    },
  });
  return {
    authenticate: authenticateWith({
      ...(kinds.has('keys') && { apiKey: (token) => ring.principalOf(token) }),
      ...(config.API_ADMIN_KEY !== undefined && { adminKey: adminKey(config.API_ADMIN_KEY) }),
      ...(kinds.has('jwt') && { jsonWebToken: verifierOf(config, logger, clock) }),
    }),
    rateLimit,
    securitySchemes: schemesOf(kinds),
    resources: kinds.has('keys')
      ? [
          apiKeysResource({
            store,
            ring,
            onChange: (event) => logger.info({ ...event }, 'API key'),
            requiresReason: config.API_REQUIRE_REASONS,
          }),
        ]
      : [],
  };
}

function adminKey(configured: string): (token: string) => Principal | undefined {
  const hash = configured.startsWith('sha256:')
    ? Buffer.from(configured.slice(7), 'hex')
    : hashOf(configured);
  return (token) => (isHashOf(hash, token) ? { name: 'API_ADMIN_KEY', scopes: ['admin'] } : undefined);
}

function verifierOf(
  config: AccessConfig,
  logger: Logger,
  clock: Clock,
): (token: string) => Promise<Principal> {
  const { API_JWT_ISSUER = '', API_JWT_AUDIENCE = '', API_JWT_JWKS_URL = '' } = config;
  return tokenVerifier(
    {
      issuer: API_JWT_ISSUER,
      audience: API_JWT_AUDIENCE,
      jwksUrl: API_JWT_JWKS_URL,
      clockToleranceSeconds: config.API_JWT_CLOCK_TOLERANCE_S,
      ...(config.API_JWT_TYP !== undefined && { typ: config.API_JWT_TYP }),
      scopePrefix: config.API_JWT_SCOPE_PREFIX,
    },
    clock,
    (error) => logger.warn({ err: error }, 'the keys of API_JWT_JWKS_URL cannot be read'),
  );
}

function rateLimitOf(
  { API_RATE_LIMIT_PER_SECOND, API_RATE_LIMIT_BURST }: AccessConfig,
  kinds: ReadonlySet<CredentialKind>,
): Throttle | undefined {
  const perSecond = API_RATE_LIMIT_PER_SECOND ?? (kinds.size === 0 ? 0 : defaultPerSecond);
  return perSecond === 0
    ? undefined
    : new Throttle({ perSecond, burst: API_RATE_LIMIT_BURST ?? 2 * perSecond });
}

function schemesOf(kinds: ReadonlySet<CredentialKind>): SecuritySchemes {
  const bearer = [
    ...(kinds.has('keys') ? ['an API key (`lsk_…`)'] : []),
    ...(kinds.has('jwt')
      ? ['a JSON Web Token whose claim `scope` names the scopes (RFC 7519, RFC 8725)']
      : []),
  ].join(', or ');
  return {
    bearer: { type: 'http', scheme: 'bearer', description: `Follows RFC 6750. The token is ${bearer}.` },
    ...(kinds.has('keys') && {
      apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'An API key (`lsk_…`).' },
    }),
  };
}

/** One function per accepted kind of credentials. Credentials of any other kind are rejected. */
interface CredentialKinds {
  /** Returns the admin's principal if the token is the configured admin key; otherwise `undefined`. */
  readonly adminKey?: (token: string) => Principal | undefined;
  readonly apiKey?: (token: string) => Promise<Principal>;
  readonly jsonWebToken?: (token: string) => Promise<Principal>;
}

/**
 * Authenticates callers by the token in `Authorization: Bearer …` or `X-Api-Key`. A request without a token is
 * anonymous.
 */
function authenticateWith(kinds: CredentialKinds): Authenticate {
  return async (request) => {
    const token = tokenOf(request);
    if (token === undefined) return undefined;
    const admin = kinds.adminKey?.(token);
    if (admin !== undefined) return admin;
    if (kinds.apiKey !== undefined && apiKeyId(token) !== undefined) return kinds.apiKey(token);
    if (kinds.jsonWebToken !== undefined && token.split('.').length === 3) return kinds.jsonWebToken(token);
    throw unauthorized('This kind of credentials is not accepted');
  };
}

function tokenOf({ headers }: ApiRequest): string | undefined {
  const { authorization, 'x-api-key': apiKey } = headers;
  if (authorization === undefined) return apiKey;
  if (apiKey !== undefined) throw unauthorized('Send Authorization or X-Api-Key, not both');
  const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
  if (token === undefined) throw unauthorized('Authorization must be "Bearer" followed by a token');
  return token;
}

/**
 * The permissions of each scope, for the documentation. `admin` includes all other scopes; no other scope includes
 * another.
 */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  read: 'GET on everything except API keys and the audit',
  write:
    "changes to single jobs, batches and recurring jobs; all changes to the application's resources; `POST /test`",
  operate:
    'special operations (`PUT …/{verb}`) and changes to many items at once, on the resources of the job platform; all changes to queues and servers; reading the audit',
  admin: 'everything, including API keys and the stack traces of 500 responses',
};

/** Resources of the job platform for which `write` is enough to create items, and to change or delete single items. */
const resourcesWritableWithWrite = new Set(['jobs', 'batches', 'recurring-jobs']);

/**
 * Returns a function that returns the scope required for a call.
 *
 * @param platform the names of the top-level resources of the job platform; all others belong to the application
 */
export function scopeRules(platform: ReadonlySet<string>): ScopeOf {
  return ({ root, resource, method, kind }): Scope => {
    if (root === apiKeys) return 'admin';
    if (method === 'GET' || method === 'HEAD') return resource === 'audit-entries' ? 'operate' : 'read';
    if (!platform.has(root)) return 'write';
    const isSingle = kind === 'item' || (kind === 'collection' && method === 'POST');
    return resourcesWritableWithWrite.has(resource) && isSingle ? 'write' : 'operate';
  };
}

/**
 * Returns the field that holds a row's queue, for each resource whose rows belong to queues. An API key that is
 * restricted to certain queues sees only the rows of these queues.
 */
export function queueRowScopes(definitions: readonly JobDefinition[]): RowScopes {
  const queues = new Map(definitions.map(({ name, queue }) => [name, queue]));
  const defaultOf = ({ name }: { readonly name?: unknown }): string | undefined => queues.get(String(name));
  return {
    jobs: { field: 'queue', defaultOf },
    continuations: { field: 'queue' },
    'recurring-jobs': { field: 'queue', defaultOf },
    queues: { field: 'name' },
    events: { field: 'queue' },
    statistics: { field: 'queue' },
  };
}
