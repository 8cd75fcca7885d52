import { decodePairs, decodePercent, parseUuid, UrlError } from '@longshore/edge';
import type { Context } from 'koa';
import { badRequest } from './problem.js';

/** The sections of the dashboard whose paths contain UUIDs. The names in the paths of others are free. */
const sectionsWithIds = new Set(['jobs', 'batches', 'servers', 'bulk']);

/**
 * Checks that the address of a request can be read: UTF-8 in percent-encoding, without NUL.
 *
 * @throws {Problem} (400) otherwise
 */
export function requireReadableAddress({ path, querystring }: Context): void {
  readable('This address cannot be read', () => {
    decodePercent(path, 'The path');
    decodePairs(querystring);
  });
}

/**
 * Returns the parameters of a path, with UUIDs in lower case.
 *
 * @param route the path of the route, such as `/jobs/:id/log`
 */
export function pathParameters(
  route: string,
  parameters: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (!sectionsWithIds.has(route.split('/')[1] ?? '')) return parameters;
  return Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, parseUuid(value) ?? value]),
  );
}

/**
 * Returns the fields of a submitted form, or the parameters of a query in one of them.
 *
 * @throws {Problem} (400) if a field cannot be read
 */
export function formFields(text: string): URLSearchParams {
  return readable(
    'This form cannot be read',
    () => new URLSearchParams(decodePairs(text) as [string, string][]),
  );
}

function readable<Result>(title: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof UrlError ? badRequest(title, `${error.message}.`) : error;
  }
}

/** Converts a path inside the dashboard, such as `jobs/123`, to a link that works on the current page. */
export type Link = (path: string) => string;

/**
 * Maximum depth of a path for relative links. Pages at deeper paths get absolute links. Only error pages are that deep.
 */
const MAX_DEPTH = 16;

/** The path at which the dashboard is mounted. */
export class BasePath {
  /** The path without a trailing slash; an empty string if the dashboard is mounted at the root. */
  readonly path: string;

  /**
   * @throws {TypeError} if a segment is empty, begins with `.`, or contains anything but letters, digits, `-`, `_`, `~`
   *   and `.`
   */
  constructor(path: string) {
    const trimmed = path.replace(/\/+$/, '');
    if (!/^(\/[\w~-][\w.~-]*)*$/.test(trimmed))
      throw new TypeError(`Not a path to mount the dashboard at: ${path}`);
    this.path = trimmed;
  }

  /**
   * Returns the path inside the dashboard, with a leading slash. The case of the base path does not matter. Returns an empty string for the base path itself, and
   * `null` for a path outside the dashboard.
   */
  inside(requestPath: string): string | null {
    if (!`${requestPath}/`.toLowerCase().startsWith(`${this.path}/`.toLowerCase())) return null;
    return requestPath.slice(this.path.length);
  }

  /**
   * Returns a function that creates links relative to the requested page. Relative links work behind any gateway, even
   * if it strips a path prefix.
   */
  linksFrom(requestPath: string): Link {
    const root = this.#rootFrom(this.inside(requestPath) ?? '/');
    return (path) => root + path;
  }

  #rootFrom(inside: string): string {
    if (inside === '') return `./${this.path.slice(this.path.lastIndexOf('/') + 1)}/`;
    const depth = inside.split('/').length - 2;
    if (depth > MAX_DEPTH) return `${this.path}/`;
    return depth === 0 ? './' : '../'.repeat(depth);
  }
}
