import { apiError } from '../../errors/api-error.js';
import { type ConfinedField, confinedStorage } from './row-scope.js';
import type { Principal } from '../request/request.js';
import type { Route } from '../request/route.js';

/**
 * The resources within reach of callers that are confined to certain values of a field, by name. Their other items do not
 * exist for such a caller, and resources that are not listed are out of its reach, unless they stand below one that is.
 */
export type Confinement = Readonly<Record<string, ConfinedField>>;

/**
 * The route as it is for this caller.
 * @throws {ApiError} 40301 if it is out of its reach
 */
export function confine(route: Route, confinement: Confinement, principal: Principal | undefined): Route {
  const values = principal?.confinedTo;
  if (values === undefined) return route;
  const root = (route.parents[0] ?? route).resource.name;
  if (confinement[root] === undefined) {
    throw apiError(40301, `These credentials reach only ${values.join(', ')}; ${root} are beyond that`);
  }
  const confined = <Place extends Pick<Route, 'resource' | 'storage'>>(place: Place): Place => {
    const field = confinement[place.resource.name];
    if (field === undefined) return place;
    return { ...place, storage: confinedStorage(place.storage, place.resource, field, values) };
  };
  return { ...confined(route), parents: route.parents.map(confined) };
}

/**
 * For routes that are no resources.
 * @throws {ApiError} 40301 if the caller is confined to other values than this one
 */
export function requireReach(principal: Principal | undefined, value: string | undefined): void {
  const values = principal?.confinedTo;
  if (values === undefined || (value !== undefined && values.includes(value))) return;
  throw apiError(40301, `These credentials reach only ${values.join(', ')}`);
}
