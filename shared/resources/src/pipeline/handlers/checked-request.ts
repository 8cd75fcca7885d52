import type { Preferences } from '../request/prefer.js';
import type { ApiRequest, ApiResponse } from '../request/request.js';
import type { Route } from '../request/route.js';
import type { CallContext } from '../../definition/storage.js';

/** A request that has passed the stages up to the body: everything a handler needs. */
export interface Call<Kind extends Route['kind'] = Route['kind']> {
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
 * The one step of a call that touches the storage.
 *
 * @param context that of the call, with the transaction in which it is to be done, if there is one
 */
export type Action = (context: CallContext) => Promise<ApiResponse>;

/** Checks query and body without touching anything; what it returns then does the work. */
export type Handler<Kind extends Route['kind']> = (call: Call<Kind>) => Action | Promise<Action>;
