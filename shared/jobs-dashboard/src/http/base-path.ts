/** Turns a path inside the dashboard, `jobs/123` for example, into a link that works on the page under answer. */
export type Link = (path: string) => string;

/** Deeper paths than this belong to no page; their links need not be relative. */
const MAX_DEPTH = 16;

/** Where the dashboard is mounted. */
export class BasePath {
  /** Without a slash at the end; empty at the root. */
  readonly path: string;

  /** Throws a TypeError if the path is none: segments of letters, digits, `-`, `_`, `.` and `~`. */
  constructor(path: string) {
    const trimmed = path.replace(/\/+$/, '');
    if (!/^(\/[\w~-][\w.~-]*)*$/.test(trimmed))
      throw new TypeError(`Not a path to mount the dashboard at: ${path}`);
    this.path = trimmed;
  }

  /** The path inside the dashboard with its leading slash; empty for the base itself, `null` outside. */
  inside(requestPath: string): string | null {
    if (requestPath !== this.path && !requestPath.startsWith(`${this.path}/`)) return null;
    return requestPath.slice(this.path.length);
  }

  /**
   * Links relative to the page that was asked for, so that they hold behind any gateway, whether it strips its prefix
   * or not: how the path ends is the same on both sides.
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
