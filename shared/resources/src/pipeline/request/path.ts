import { apiError } from '../../errors/api-error.js';
import { decodePercent } from '../../query/query-string.js';

/**
 * The decoded segments of a path; a trailing slash makes no difference.
 * Throws 40003 for bad percent-encoding and NUL.
 */
export function pathSegments(path: string): readonly string[] {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  return segments.map((segment) => decodePercent(segment, 'path'));
}

/** The one version that is served. */
export const supportedVersion = 'v1';

/** The segments after `api/v1`. Throws 40403 for any other version. */
export function afterVersion(segments: readonly string[]): readonly string[] {
  const [, version = '', ...rest] = segments;
  if (version.toLowerCase() !== supportedVersion) {
    throw apiError(40403, `There is no version "${version.slice(0, 100)}"; supported: ${supportedVersion}`);
  }
  return rest;
}
