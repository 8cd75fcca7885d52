import { type Deprecation, firstDeprecation } from '../definition/deprecation.js';
import { functionOf } from './request/method.js';
import type { ApiResponse } from './request/request.js';
import type { Route } from './request/route.js';

/**
 * Returns the deprecation that applies to a call; undefined if there is none. Looks at the call first, then at the
 * resource, then at the parents, innermost first.
 */
export function deprecationOf(route: Route, method: string): Deprecation | undefined {
  const { resource, parents } = route;
  const name = functionOf(route, method);
  const own = route.kind === 'operation' ? route.operation : name && resource.calls.get(name);
  return firstDeprecation([own, resource, ...parents.map((parent) => parent.resource).toReversed()]);
}

/**
 * Adds the header `Deprecation` (RFC 9745), a link to the reference and, if an end date is set, `Sunset` (RFC 8594).
 *
 * @param docsUrl the URL of the API's reference
 */
export function announce(
  response: ApiResponse,
  { since, sunset }: Deprecation,
  docsUrl: string,
): ApiResponse {
  const { link } = response.headers;
  const announcement = `<${docsUrl}>; rel="deprecation"; type="text/html"`;
  return {
    ...response,
    headers: {
      ...response.headers,
      deprecation: `@${Math.floor(since.getTime() / 1000)}`,
      ...(sunset && { sunset: sunset.toUTCString() }),
      link: link === undefined || link === '' ? announcement : `${link}, ${announcement}`,
    },
  };
}
