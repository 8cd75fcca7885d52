import type { CallContext } from '../../definition/call-context.js';
import type { Preferences } from '../request/prefer.js';
import type { ApiRequest, ApiResponse } from '../request/request.js';
import type { Route } from '../request/route.js';

/**
 * A request whose method, permissions and media types have been checked. The handler checks the query and the content
 * of the body.
 */
export interface CheckedRequest<Kind extends Route['kind'] = Route['kind']> {
  readonly request: ApiRequest;
  readonly route: Route & { readonly kind: Kind };
  readonly preferences: Preferences;
  readonly context: CallContext;
  /** The parsed JSON body; undefined if there is none. */
  readonly body: unknown;
  /** URL of the API version, e.g. `https://example.com/api/v1`. */
  readonly apiUrl: string;
}

/**
 * Performs a request whose query and body have been checked. Uses the storage.
 *
 * @param context the request's context, with the transaction to use, if any
 */
export type Execute = (context: CallContext) => Promise<ApiResponse>;

/** Checks the query and the body, without using the storage. Returns the function that performs the request. */
export type Handler<Kind extends Route['kind']> = (
  checked: CheckedRequest<Kind>,
) => Execute | Promise<Execute>;
