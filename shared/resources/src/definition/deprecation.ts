import { DefinitionError } from './naming.js';

/**
 * Announces the deprecation of a resource or of a call. Times are dates or UTC times in ISO 8601: `2026-11-22` or
 * `2026-11-22T12:00:00Z`.
 */
export interface DeprecationDeclaration {
  /** When the deprecation starts or started, for the `Deprecation` header (RFC 9745). */
  readonly since: string;
  /** When the resource or call stops working, for the `Sunset` header (RFC 8594); absent if undecided. */
  readonly sunset?: string;
  /** What to use instead, as a sentence for the reference. */
  readonly instead?: string;
}

/** A validated {@link DeprecationDeclaration}. */
export interface Deprecation {
  readonly since: Date;
  readonly sunset: Date | undefined;
  readonly instead: string | undefined;
}

/**
 * Validates a declaration and parses the times. Returns undefined if nothing is declared.
 *
 * @throws {DefinitionError} if a time is malformed, or `sunset` is not after `since`
 */
export function compileDeprecation(declared: DeprecationDeclaration | undefined): Deprecation | undefined {
  if (declared === undefined) return undefined;
  const since = timeOf(declared.since);
  const sunset = declared.sunset === undefined ? undefined : timeOf(declared.sunset);
  if (sunset !== undefined && sunset <= since)
    throw new DefinitionError(
      `sunset ${declared.sunset} must be later than ${declared.since}, when it is deprecated`,
    );
  return { since, sunset, instead: declared.instead };
}

/**
 * Returns the deprecation that applies to a call: its own, else that of its resource, else that of the innermost
 * deprecated parent. Returns undefined if there is none.
 *
 * @param parents the parents in the path, outermost first
 */
export function deprecationOf(
  call: Deprecatable | undefined,
  resource: Deprecatable,
  parents: readonly Deprecatable[],
): Deprecation | undefined {
  const innermost = parents.findLast(({ deprecated }) => deprecated !== undefined);
  return call?.deprecated ?? resource.deprecated ?? innermost?.deprecated;
}

interface Deprecatable {
  readonly deprecated: Deprecation | undefined;
}

function timeOf(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new DefinitionError(
    `"${text}" must be a date or a UTC time, such as 2026-11-22 or 2026-11-22T12:00:00Z`,
  );
}
