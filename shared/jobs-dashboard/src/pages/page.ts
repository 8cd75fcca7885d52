import type { Viewer } from '../auth/viewer.js';
import type { WarningWatch } from '../diagnosis/warning-watch.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import type { Page, Redirect } from '../shell/page.js';

/** The parts of a request that pages can use. */
export interface PageRequest {
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
}

/** The data and services that all pages share, independent of the request. */
export interface PageContext extends ReadingContext {
  readonly warnings: WarningWatch;
}

/** Creates a page for a request. Rejects with a Problem if there is no such page. */
export type PageHandler = (request: PageRequest, context: PageContext) => Promise<Page | Redirect>;
