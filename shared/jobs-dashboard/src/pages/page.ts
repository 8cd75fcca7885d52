import type { Viewer } from '../auth/viewer.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { JobLinks } from '../format/job-links.js';
import type { Cache } from '../cache.js';
import type { WarningWatch } from '../diagnosis/warning-watch.js';

/** The part of an HTTP request that pages can depend on. */
export interface PageRequest {
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
}

/** The data and services that all pages share, the same for every request. */
export interface PageContext {
  readonly reader: DashboardReader;
  readonly cache: Cache;
  readonly warnings: WarningWatch;
  /** Milliseconds since 1970 by the storage's clock; every time that a page shows is relative to it. */
  readonly now: () => number;
  /** Milliseconds since 1970 by the clock of this machine. */
  readonly machineNow: () => number;
  /** The time limit for each part of a page, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Matches the keys whose values are never shown. */
  readonly redact: RegExp;
  /** Links from a job to other systems. */
  readonly links: JobLinks;
}

/** A part of a page that is loaded and refreshed separately. */
export interface Region {
  readonly name: string;
  /** The view that renders the result of `load`, which it finds in `it.model`. */
  readonly view: string;
  /** Milliseconds between two refreshes. */
  readonly everyMs: number;
  /** The path of an event stream that replaces refreshes in browsers that support it. */
  readonly stream?: string;
  /**
   * Loads the model, which must not contain relative times, because refreshes are answered with 304 until it changes.
   */
  readonly load: () => Promise<object>;
}

/** A model that can be incomplete at first. While `partial` is true, the region is refreshed more often. */
export interface PartialModel {
  readonly partial: boolean;
}

/** The model of a region that has nothing to show and takes up no space. */
export const nothing = { nothing: true } as const;

/** The sections of the dashboard, in the order of the navigation. */
export const sections = [
  { name: 'overview', path: '', icon: 'gauge', word: 'Overview' },
  { name: 'jobs', path: 'jobs', icon: 'list', word: 'Jobs' },
  { name: 'queues', path: 'queues', icon: 'stack', word: 'Queues' },
  { name: 'types', path: 'types', icon: 'clock', word: 'Job types' },
  { name: 'recurring', path: 'recurring', icon: 'repeat', word: 'Recurring' },
  { name: 'batches', path: 'batches', icon: 'boxes', word: 'Batches' },
  { name: 'errors', path: 'errors', icon: 'cross', word: 'Errors' },
  { name: 'servers', path: 'servers', icon: 'server', word: 'Servers' },
  { name: 'audit', path: 'audit', icon: 'book', word: 'Audit' },
  { name: 'help', path: 'help', icon: 'question', word: 'Help' },
] as const;

export type Section = (typeof sections)[number]['name'];

export interface Page {
  readonly title: string;
  readonly section: Section;
  /** The view that lays out the regions, which it finds by name in `it.regions`; `page` puts one below the other. */
  readonly view: string;
  readonly regions: readonly Region[];
  /** A link above the title, to the list that the page belongs to. */
  readonly kicker?: { readonly path: string; readonly text: string };
  /** The id of the page's subject, shown below the title. */
  readonly id?: string;
  /** Further data of the view. */
  readonly data?: object;
}

/** Redirects to another page of the dashboard. */
export interface Redirect {
  readonly redirect: string;
}

/** Answers the requests for a page. Rejects with a Problem if there is no such page. */
export type PageHandler = (request: PageRequest, context: PageContext) => Promise<Page | Redirect>;
