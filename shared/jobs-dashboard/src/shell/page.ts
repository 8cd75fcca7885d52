import type { JobDefinition } from '@longshore/jobs';
import type { Dimension } from '../search/filters.js';
import type { Viewer } from '../auth/authenticator.js';
import type { BacklogOutlooks } from '../diagnosis/backlog-outlook.js';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import type { Form } from './form.js';

/** A part of a page that is loaded and refreshed separately. */
export interface Region {
  readonly name: string;
  /** The view that renders the region. It finds the result of `load` in `it.model`. */
  readonly view: string;
  /** Default interval between refreshes, in milliseconds. */
  readonly everyMs: number;
  /** The path of an event stream. While a browser receives it, the region is not refreshed. */
  readonly stream?: string;
  /**
   * Loads the data for the view. The data must not contain relative times. Otherwise, each refresh would find a change,
   * and none could be answered with 304.
   */
  readonly load: () => Promise<object>;
}

/**
 * The data of a region that can be incomplete at first. While `partial` is true, the region is refreshed more often.
 */
export interface PartialModel {
  readonly partial: boolean;
}

/** The data of a region that has nothing to show. Such a region takes up no space. */
export const nothing = { nothing: true } as const;

/** The sections of the dashboard, in the order of the navigation. */
export const sections = [
  { name: 'overview', path: '', icon: 'gauge', word: 'Overview' },
  { name: 'jobs', path: 'jobs', icon: 'list', word: 'Jobs' },
  { name: 'queues', path: 'queues', icon: 'stack', word: 'Queues' },
  { name: 'types', path: 'types', icon: 'clock', word: 'Job types' },
  { name: 'tenants', path: 'tenants', icon: 'people', word: 'Tenants' },
  { name: 'recurring', path: 'recurring', icon: 'repeat', word: 'Recurring' },
  { name: 'batches', path: 'batches', icon: 'boxes', word: 'Batches' },
  { name: 'errors', path: 'errors', icon: 'cross', word: 'Errors' },
  { name: 'servers', path: 'servers', icon: 'server', word: 'Servers' },
  { name: 'incidents', path: 'incidents', icon: 'alert', word: 'Incidents' },
  { name: 'audit', path: 'audit', icon: 'book', word: 'Audit' },
  { name: 'help', path: 'help', icon: 'question', word: 'Help' },
] as const;

type Section = (typeof sections)[number]['name'];

export interface Page {
  readonly title: string;
  readonly section: Section;
  /** Name of the view, which finds the regions by name in `it.regions`. The view `page` stacks them vertically. */
  readonly view: string;
  readonly regions: readonly Region[];
  /** The link above the title. It leads to the parent list. */
  readonly kicker?: { readonly path: string; readonly text: string };
  /** The id of the job or other subject of the page, shown below the title. */
  readonly id?: string;
  /** Additional data for the view, which reads it as `it.data`. */
  readonly data?: object;
}

/** Redirects the browser; `redirect` is a path inside the dashboard. */
export interface Redirect {
  readonly redirect: string;
}

/** The parts of a request that pages can use. */
export interface PageRequest {
  /** The decoded path parameters. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly viewer: Viewer;
  /** What was entered into the form of the page, if it was rejected. */
  readonly rejected?: Rejected;
}

/** A form that was rejected, and what to do, by the name of the field; the empty name stands for the whole form. */
export interface Rejected {
  readonly form: Form;
  readonly errors: ReadonlyMap<string, string>;
}

/** The data and services that all pages share, independent of the request. */
export interface PageContext extends ReadingContext {
  readonly backlogs: BacklogOutlooks;
  /** The definitions of jobs that are known, by name. */
  readonly definitions: ReadonlyMap<string, JobDefinition>;
  /** The property that identifies the tenant of a job; `null` if there is no Tenants page. */
  readonly tenant: Dimension | null;
}

/** Creates a page for a request. Rejects with a Problem if there is no such page. */
export type PageHandler = (request: PageRequest, context: PageContext) => Promise<Page | Redirect>;
