import type { Cache } from '../cache/cache.js';
import type { JobLinks } from '../format/job-links.js';
import type { DashboardReader } from './dashboard-reader.js';

/** What all readers of data share, independent of the request. */
export interface ReadingContext {
  readonly reader: DashboardReader;
  readonly cache: Cache;
  /** Returns the storage's time in milliseconds since 1970. All times on pages are relative to it. */
  readonly now: () => number;
  /** Returns the time of this machine's clock in milliseconds since 1970. */
  readonly machineNow: () => number;
  /** Time limit for loading each region of a page, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Matches keys whose values are redacted. */
  readonly redact: RegExp;
  /** Builds links from jobs to other systems. */
  readonly links: JobLinks;
}
