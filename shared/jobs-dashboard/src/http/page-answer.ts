import { StorageUnavailableError } from '@longshore/jobs';
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Page, PartialModel, Redirect, Region } from '../pages/page.js';
import { ReadTooSlowError, withDeadline } from '../reading/deadline.js';
import type { Cache } from '../cache.js';
import { Fragments } from '../live/fragments.js';
import type { Layout } from './layout.js';
import { badRequest } from './problem.js';
import type { RequestContext } from './request-context.js';

/** The request header that names the regions a refresh asks for, separated by commas. */
export const REGION_HEADER = 'Longshore-Region';

/** Until a region is asked again that there is more of to come. */
const PARTIAL_EVERY_MS = 500;

interface LoadedRegion extends Region {
  /** `null` if it took longer than the page would wait. */
  readonly model: object | null;
  /** Weak: the same model may be shown with other relative times. */
  readonly etag: string;
  readonly error?: StorageUnavailableError;
}

/** Turns a page into the answer: the whole of it, or those of the regions asked for that have changed, or 304 if none has. */
export class PageResponder {
  readonly #layout: Layout;
  readonly #cache: Cache;
  readonly #fragments: Fragments;
  readonly #readTimeoutMs: number;

  constructor(layout: Layout, cache: Cache, readTimeoutMs: number) {
    this.#layout = layout;
    this.#cache = cache;
    this.#fragments = new Fragments(cache);
    this.#readTimeoutMs = readTimeoutMs;
  }

  async send(ctx: Context, requestContext: RequestContext, page: Page | Redirect): Promise<void> {
    if ('redirect' in page) {
      ctx.status = 303;
      ctx.set('Location', this.#layout.links(ctx)(page.redirect));
      return;
    }
    const wanted = ctx.get(REGION_HEADER);
    if (wanted === '') await this.#sendWhole(ctx, requestContext, page);
    else await this.#sendRegions(ctx, requestContext, page, wanted.split(/, */));
  }

  async #sendWhole(ctx: Context, requestContext: RequestContext, page: Page): Promise<void> {
    const loaded = await this.#loadAll(ctx, requestContext, page.regions);
    const regions = Object.fromEntries(loaded.map((region) => [region.name, region]));
    this.#layout.send(ctx, page.view, { ...page, ...requestContext, regions });
  }

  async #sendRegions(
    ctx: Context,
    requestContext: RequestContext,
    page: Page,
    names: readonly string[],
  ): Promise<void> {
    const wanted = page.regions.filter(({ name }) => names.includes(name));
    if (wanted.length < names.length)
      throw badRequest('There is no such region', 'This page has no part of that name.');
    const loaded = await this.#loadAll(ctx, requestContext, wanted);
    const known = ctx.get('If-None-Match').split(/, */);
    const news = loaded.filter(({ etag }) => !known.includes(etag));
    ctx.status = news.length === 0 ? 304 : 200;
    if (news.length === 0) return;
    const key = JSON.stringify(['fragment', ctx.path, ctx.querystring, ...news.map(({ etag }) => etag)]);
    await this.#fragments.send(ctx, key, requestContext, ({ formToken }) =>
      this.#layout.render(ctx, 'regions', { may: requestContext.may, formToken, regions: news }),
    );
  }

  /** @throws {StorageUnavailableError} if there is nothing to show but that */
  async #loadAll(
    ctx: Context,
    requestContext: RequestContext,
    regions: readonly Region[],
  ): Promise<LoadedRegion[]> {
    const loaded = await Promise.all(regions.map((region) => this.#load(ctx, region)));
    const [first] = loaded;
    if (first?.error !== undefined && loaded.every(({ error }) => error !== undefined)) throw first.error;
    return loaded.map((region) => shownTo(requestContext, region));
  }

  /** Shared by all who look at the same address: what regions show does not depend on the viewer. */
  #load(ctx: Context, region: Region): Promise<LoadedRegion> {
    const key = JSON.stringify(['region', region.name, ctx.path, ctx.querystring]);
    return this.#cache.read(
      key,
      () => this.#loadInTime(region),
      ({ model }) => (model !== null && isPartial(model) ? 0 : this.#cache.lifetimeMs),
    );
  }

  async #loadInTime(region: Region): Promise<LoadedRegion> {
    try {
      const model = await withDeadline(region.load(), this.#readTimeoutMs);
      const everyMs = isPartial(model) ? PARTIAL_EVERY_MS : region.everyMs;
      return { ...region, everyMs, model, etag: this.#etag(region, model) };
    } catch (error) {
      const late = { ...region, model: null, etag: this.#etag(region, { late: true }) };
      if (error instanceof StorageUnavailableError) return { ...late, error };
      if (error instanceof ReadTooSlowError) return late;
      throw error;
    }
  }

  #etag({ name, view }: Region, model: object): string {
    const hash = createHash('sha1').update(this.#layout.version).update(view).update(JSON.stringify(model));
    return `W/"${name}.${hash.digest('base64url')}"`;
  }
}

function isPartial(model: object | PartialModel): boolean {
  return 'partial' in model && model.partial;
}

/** Forms go stale, and others are offered after a change of role, while what a region tells stays the same. */
function shownTo({ version }: RequestContext, region: LoadedRegion): LoadedRegion {
  return { ...region, etag: region.etag.replace(/"$/, `.${version}"`) };
}
