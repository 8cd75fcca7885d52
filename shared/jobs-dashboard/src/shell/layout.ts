import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { readCookie, setCookie } from '../auth/sessions.js';
import { timeText } from '../format/time.js';
import type { BasePath, Link } from '../http/address.js';
import type { Assets } from '../http/assets.js';
import { isSameOrigin } from '../http/request-origin.js';
import { formOf, readForm } from './form.js';
import { Renderer } from './renderer.js';
import type { RequestContext } from './request-context.js';

interface Content extends RequestContext {
  readonly title: string;
  readonly [name: string]: unknown;
}

/** Renders pages. Provides what all views need: relative links, hashed assets and the current time. */
export class Layout {
  readonly #basePath: BasePath;
  readonly #assets: Assets;
  readonly #renderer = new Renderer();
  readonly #now: () => number;
  readonly #instance: string;
  readonly #hasTenants: boolean;

  /**
   * @param instance the name of the installation, shown on every page unless it is empty
   * @param hasTenants whether the navigation links to the Tenants page
   */
  constructor(
    basePath: BasePath,
    assets: Assets,
    now: () => number,
    { instance = '', hasTenants }: { readonly instance?: string | undefined; readonly hasTenants: boolean },
  ) {
    this.#basePath = basePath;
    this.#assets = assets;
    this.#now = now;
    this.#instance = instance;
    this.#hasTenants = hasTenants;
  }

  /** The version of the assets. Entity tags include it, because new assets can come with changed views. */
  get version(): string {
    return this.#assets.version;
  }

  links(ctx: Context): Link {
    return this.#basePath.linksFrom(ctx.path);
  }

  send(ctx: Context, view: string, content: Content): void {
    ctx.type = 'html';
    ctx.body = this.render(ctx, view, { section: null, data: {}, ...content });
  }

  /** Renders a view to a string, without sending it. */
  render(ctx: Context, view: string, locals: object): string {
    const link = this.links(ctx);
    const nowMs = this.#now();
    return this.#renderer.render(view, {
      ...locals,
      link,
      asset: (name: string) => link(this.#assets.path(name)),
      logo: this.#assets.logo,
      instance: this.#instance,
      hasTenants: this.#hasTenants,
      density: densityOf(ctx),
      now: new Date(nowMs),
      time: (at: Date) => timeText(at, nowMs),
      elapsedMs: (from: Date, until: Date | null) => (until?.getTime() ?? nowMs) - from.getTime(),
    });
  }
}

/** The path inside the dashboard to which the display settings form is submitted. */
export const displayPath = '/display';

/**
 * Serves the form that sets the density, and redirects back to the previous page. The form needs no token, because it
 * changes only what its sender sees.
 *
 * @param linksOf returns a function that creates links relative to the requested page
 */
export function serveDisplay(
  router: Router,
  linksOf: (ctx: Context) => Link,
  origin: string | undefined,
): void {
  router.post(displayPath, readForm('8kb'), (ctx) => {
    if (isSameOrigin(ctx, origin))
      setDensity(ctx, formOf(ctx).get('density') === 'compact' ? 'compact' : 'comfortable');
    ctx.status = 303;
    ctx.set('Location', pageBefore(ctx) ?? linksOf(ctx)(''));
  });
}

/**
 * Returns the URL of the page that contains the submitted form, from the `Referer` header. Returns `null` if the header
 * is missing or names another origin.
 */
function pageBefore(ctx: Context): string | null {
  const page = ctx.get('Referer');
  return URL.canParse(page) && new URL(page).origin === ctx.get('Origin') ? page : null;
}

const COOKIE = 'longshore_density';
const YEAR_MS = 365 * 24 * 3_600_000;

/** The spacing of tables and panels. */
type Density = 'comfortable' | 'compact';

/** Returns the density that the viewer has chosen in this browser. Defaults to `comfortable`. */
function densityOf(ctx: Context): Density {
  return readCookie(ctx, COOKIE) === 'compact' ? 'compact' : 'comfortable';
}

function setDensity(ctx: Context, density: Density): void {
  setCookie(ctx, COOKIE, density === 'compact' ? density : '', YEAR_MS);
}
