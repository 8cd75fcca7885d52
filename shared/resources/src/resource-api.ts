import type { Throttle } from '@longshore/edge';
import { createCatalog } from './definition/catalog.js';
import type { Platform } from './definition/context.js';
import type { Resource } from './definition/resource.js';
import type { ApiError } from './errors/api-error.js';
import type { ErrorStackPolicy } from './errors/incident.js';
import { koaAdapter, type Middleware, type RequestGuard } from './koa/middleware.js';
import type { ApiInfo } from './openapi/document.js';
import { bearer, type SecuritySchemes } from './openapi/policies.js';
import { createReference } from './openapi/reference.js';
import { type Authenticate, readOrWrite, type ScopeOf } from './pipeline/access/access-control.js';
import { type ListenerLimits, Listeners } from './pipeline/access/listeners.js';
import type { RowScopes } from './pipeline/access/row-scope.js';
import { type IdempotencyStore, memoryIdempotencyStore } from './pipeline/idempotency.js';
import { supportedVersion } from './pipeline/route.js';
import { type ApiLog, Pipeline } from './pipeline/pipeline.js';

export interface ResourceApiOptions {
  readonly resources: readonly Resource[];
  /** Required if any resource uses `tableStorage`. */
  readonly platform?: Platform;
  /** The scheme, host and port of links, e.g. `https://example.com`. Trailing slashes are removed. */
  readonly baseUrl: string;
  /**
   * Path before `/api` in links, e.g. `/shop`; default empty. A gateway may strip the prefix, so requests are served
   * with and without it.
   */
  readonly prefix?: string;
  /** Identifies the caller; without it the API is open to all. */
  readonly authenticate?: Authenticate;
  /** The security schemes of the OpenAPI document by name; default: bearer tokens. */
  readonly securitySchemes?: SecuritySchemes;
  /**
   * Returns the scope that a call requires; default: `read` for GET, HEAD and OPTIONS, `write` for everything else.
   * `admin` allows everything.
   */
  readonly scopeOf?: ScopeOf;
  /**
   * For each resource, the field that determines which rows a caller with a `rowScope` may see. Top-level resources
   * without an entry are forbidden to such callers. Default: no entries.
   */
  readonly rowScopes?: RowScopes;
  /**
   * Limits how many requests each caller may send, e.g. `new Throttle({ perSecond: 10, burst: 20 })`; default: no limit.
   */
  readonly rateLimit?: Throttle;
  /** Limits how many event streams and `?wait` calls may be open; default: 10,000 in total, 1,000 per caller. */
  readonly listenerLimits?: ListenerLimits;
  /** Interval at which the credentials of an open event stream are checked again, in milliseconds; default 30,000. */
  readonly recheckMs?: number;
  /**
   * Converts an error that a storage throws, e.g. a lost connection to 50301. If it returns undefined, known Postgres
   * errors are converted, and other errors become a 500.
   */
  readonly classifyError?: (error: unknown) => ApiError | undefined;
  /** Where idempotency records are kept; default: in this process. */
  readonly idempotency?: IdempotencyStore;
  /** The title, description, version, changelog and resource groups that the OpenAPI document shows. */
  readonly info?: ApiInfo;
  /** Origins whose pages may call the API from a browser, e.g. `https://app.example.com`; default: none. */
  readonly corsOrigins?: readonly string[];
  /**
   * Called with every well-formed request before it is processed, including requests for later middleware. Throws an
   * ApiError to reject the request. By default, all requests are accepted.
   */
  readonly guard?: RequestGuard;
  /** Who sees the stack trace of a 500; default `always`. */
  readonly errorStack?: ErrorStackPolicy;
  readonly log: ApiLog;
  /** Maximum size of a request body, in bytes; default 1 MiB. */
  readonly bodyLimitBytes?: number;
}

const defaultInfo: ApiInfo = { title: 'API', description: 'A resource-style API.', version: '1.0.0' };

/**
 * Creates the API as Koa middleware. Use it before other middleware. It serves `/`, everything under `/api`, and the
 * pages `/errors/{code}`, with or without the prefix. If later middleware throws, or leaves an error status without a
 * body, the API sends the error payload.
 * @throws {DefinitionError} if two top-level resources share a name, two resources share a singular, or a resource
 *   uses `tableStorage` and there is no `platform`
 */
export function createResourceApi(options: ResourceApiOptions): Middleware {
  const catalog = createCatalog(options.resources, options.platform);
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const prefix = (options.prefix ?? '').replace(/\/+$/, '');
  const rootUrl = baseUrl + prefix;
  const apiUrl = `${rootUrl}/api/${supportedVersion}`;
  const { authenticate, rateLimit, info = defaultInfo, scopeOf = readOrWrite } = options;
  const security = authenticate && { schemes: options.securitySchemes ?? bearer, scopeOf };
  const pipeline = new Pipeline({
    catalog,
    apiUrl,
    accessControl: { authenticate, rateLimit, recheckMs: options.recheckMs },
    listeners: new Listeners(options.listenerLimits),
    scopeOf,
    rowScopes: options.rowScopes ?? {},
    idempotency: options.idempotency ?? memoryIdempotencyStore(),
    reference: createReference({ catalog, info, rootUrl, apiUrl, security, rateLimit: rateLimit?.policy }),
    rootUrl,
    prefix,
    classifyError: options.classifyError ?? (() => undefined),
    errorStack: options.errorStack ?? 'always',
    corsOrigins: options.corsOrigins ?? [],
    log: options.log,
  });
  return koaAdapter(pipeline, options.bodyLimitBytes ?? 1024 * 1024, options.guard);
}
