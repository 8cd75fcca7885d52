import type { ApiError } from './errors/api-error.js';
import type { ErrorStackPolicy } from './errors/incident.js';
import { memoryIdempotencyStore } from './pipeline/idempotency/memory-store.js';
import type { IdempotencyStore } from './pipeline/idempotency/store.js';
import { koaAdapter, type Middleware, type RequestGuard } from './koa/adapter.js';
import { createResponder } from './pipeline/responder.js';
import type { ApiInfo } from './openapi/document.js';
import { createReference } from './openapi/reference.js';
import { bearer, type SecuritySchemes } from './openapi/security.js';
import type { Confinement } from './pipeline/access/confinement.js';
import type { Authenticate } from './pipeline/access/authentication.js';
import { type ListenerLimits, Listeners } from './pipeline/access/listeners.js';
import { supportedVersion } from './pipeline/request/path.js';
import type { RateLimit } from './pipeline/access/rate-limit.js';
import { readOrWrite, type ScopeOf } from './pipeline/access/scope.js';
import { createCatalog } from './definition/catalog.js';
import type { Resource } from './definition/resource.js';
import type { Platform } from './table/table-storage.js';

/** What happens in the API that an operator may want to know. */
export interface ApiLog {
  /** An unexpected error, under the incident id that the caller was told. */
  readonly incident: (incident: {
    id: string;
    requestId: string;
    method: string;
    path: string;
    error: unknown;
  }) => void;
}

export interface ResourceApiOptions {
  readonly resources: readonly Resource[];
  /** Needed if any resource is a table. */
  readonly platform?: Platform;
  /** Scheme, host and port that links start with, e.g. `https://example.com`; a trailing slash is dropped. */
  readonly baseUrl: string;
  /** Path before `/api` in links, e.g. `/shop`; default ''. Requests are answered with and without it, as gateways do either. */
  readonly prefix?: string;
  /** Tells who calls; without it the API is open to all. */
  readonly authenticate?: Authenticate;
  /** How the document describes the credentials, by a name for each kind; default: bearer tokens. */
  readonly securitySchemes?: SecuritySchemes;
  /** Which scope a call needs; default: `read` for GET, `write` for all else. The scope `admin` may do everything. */
  readonly scopeOf?: ScopeOf;
  /** What is in reach of callers that are confined to certain values of a field; default nothing. */
  readonly confinement?: Confinement;
  /** How many requests each caller may send; default any number. */
  readonly rateLimit?: RateLimit;
  /** How many streams of events and `?wait` may be open at once. */
  readonly listenerLimits?: ListenerLimits;
  /** How often it is looked whether a listener to events may still listen, in milliseconds; default 30 000. */
  readonly recheckMs?: number;
  /** The answer to an error of a storage's own kind, e.g. 50301 for a lost connection; undefined for a 500. */
  readonly classifyError?: (error: unknown) => ApiError | undefined;
  /** Where the answers to requests with an Idempotency-Key are kept; default: in this process. */
  readonly idempotency?: IdempotencyStore;
  /** What the reference says about the API as a whole. */
  readonly info?: ApiInfo;
  /** Origins whose pages may call from a browser, e.g. `https://app.example.com`; default none. */
  readonly corsOrigins?: readonly string[];
  /**
   * Called with every request before anything else, also with those that later middleware answers; throws an ApiError to
   * refuse it. Default: refuses nothing.
   */
  readonly guard?: RequestGuard;
  /** Who sees the stack trace of a 500; default `always`. */
  readonly errorStack?: ErrorStackPolicy;
  readonly log: ApiLog;
  /** Largest body in bytes; default 1 MiB. */
  readonly bodyLimitBytes?: number;
}

const defaultInfo: ApiInfo = { title: 'API', description: 'A resource-style API.', version: '1.0.0' };

/**
 * The API as Koa middleware. Use it first: it answers everything below `/api`, the pages `/errors/{code}`, both with the
 * prefix or without, and gives the error payload to whatever the middleware after it leaves unanswered or throws.
 * @throws DefinitionError if two resources share a name
 */
export function createResourceApi(options: ResourceApiOptions): Middleware {
  const catalog = createCatalog(options.resources, options.platform);
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const prefix = (options.prefix ?? '').replace(/\/+$/, '');
  const rootUrl = baseUrl + prefix;
  const apiUrl = `${rootUrl}/api/${supportedVersion}`;
  const { authenticate, rateLimit, info = defaultInfo, scopeOf = readOrWrite } = options;
  const security = authenticate && { schemes: options.securitySchemes ?? bearer, scopeOf };
  const responder = createResponder({
    pipeline: {
      catalog,
      apiUrl,
      admission: { authenticate, rateLimit, recheckMs: options.recheckMs },
      listeners: new Listeners(options.listenerLimits),
      scopeOf,
      confinement: options.confinement ?? {},
      idempotency: options.idempotency ?? memoryIdempotencyStore(),
      reference: createReference({ catalog, info, rootUrl, apiUrl, security, rateLimit: rateLimit?.policy }),
    },
    rootUrl,
    prefix,
    classifyError: options.classifyError ?? (() => undefined),
    errorStack: options.errorStack ?? 'always',
    corsOrigins: options.corsOrigins ?? [],
    log: options.log,
  });
  return koaAdapter(responder, options.bodyLimitBytes ?? 1024 * 1024, options.guard);
}
