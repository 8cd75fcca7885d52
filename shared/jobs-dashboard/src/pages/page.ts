import type { Viewer } from '../auth/viewer.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import type { Cache } from '../cache.js';

/** What a page is made from: everything of the HTTP request that pages may depend on. */
export interface PageRequest {
  /** Decoded parameters of the path. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
}

/** What pages read from, the same for every request. */
export interface PageContext {
  readonly reader: DashboardReader;
  readonly cache: Cache;
  /** Milliseconds since 1970 by the storage's clock; every time that a page shows is relative to it. */
  readonly now: () => number;
  /** The same by the clock of this machine. */
  readonly machineNow: () => number;
  /** How long anything on a page may take, in milliseconds. */
  readonly readTimeoutMs: number;
  /** Values under keys that match are never shown. */
  readonly redact: RegExp;
}

/** A part of a page that is loaded on its own, and again and again while someone looks. */
export interface Region {
  readonly name: string;
  /** The view that shows what `load` gives, as `it.model`. */
  readonly view: string;
  /** Milliseconds between two refreshes. */
  readonly everyMs: number;
  /** Where in the dashboard it goes on by server-sent events instead, for browsers that can. */
  readonly stream?: string;
  /** Absolute times only: what it gives must stay the same while nothing changes, so that a refresh costs nothing. */
  readonly load: () => Promise<object>;
}

/** What a region shows for now: there is more to come, which takes longer than a page waits, so it is asked again soon. */
export interface PartialModel {
  readonly partial: boolean;
}

/** What a region gives that has nothing to show for now, and takes no room. */
export const nothing = { nothing: true } as const;

/** In the order of the navigation. */
export const sections = [
  { name: 'overview', path: '', icon: 'gauge', word: 'Overview' },
  { name: 'jobs', path: 'jobs', icon: 'list', word: 'Jobs' },
  { name: 'queues', path: 'queues', icon: 'stack', word: 'Queues' },
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
  /** Lays out the regions, which it finds by name in `it.regions`; `page` puts one below the other. */
  readonly view: string;
  readonly regions: readonly Region[];
  /** A link above the title, to the list that the page belongs to. */
  readonly kicker?: { readonly path: string; readonly text: string };
  /** Shown below the title. */
  readonly id?: string;
  /** What the view needs besides. */
  readonly data?: object;
}

/** The answer is elsewhere in the dashboard. */
export interface Redirect {
  readonly redirect: string;
}

/** Rejects with a Problem if there is no such page. */
export type PageHandler = (request: PageRequest, context: PageContext) => Promise<Page | Redirect>;
