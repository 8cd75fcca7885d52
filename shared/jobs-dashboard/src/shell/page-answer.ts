import { createHash } from 'node:crypto';
import { StorageUnavailableError } from '@longshore/jobs';
import type { Context } from 'koa';
import type { Cache } from '../cache/cache.js';
import { ReadTooSlowError, withDeadline } from '../cache/deadline.js';
import { compress, zip } from '../http/response.js';
import { badRequest } from '../http/problem.js';
import type { Layout } from './layout.js';
import type { Page, PartialModel, Redirect, Region } from './page.js';
import type { RequestContext } from './request-context.js';

/** The request header with the comma-separated names of the regions to refresh. */
export const REGION_HEADER = 'Longshore-Region';

/** Refresh interval of a region that is still loading, in milliseconds. */
const PARTIAL_EVERY_MS = 500;

interface LoadedRegion extends Region {
  /** The data for the view; `null` if it could not be read. */
  readonly model: object | null;
  /** The entity tag. It is weak, because the relative times in a region can differ for the same data. */
  readonly etag: string;
  readonly error?: StorageUnavailableError;
}

/**
 * Sends a page, or a redirect to another page. If the request names regions, sends only the named regions that have
 * changed, or answers with 304 if none has.
 */
export class PageResponder {
  readonly #layout: Layout;
  readonly #cache: Cache;
  readonly #readTimeoutMs: number;

  constructor(layout: Layout, cache: Cache, readTimeoutMs: number) {
    this.#layout = layout;
    this.#cache = cache;
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

  /**
   * Sends the changed regions. Caches their rendered and compressed text for all viewers, unless it contains forms: form
   * tokens differ between viewers.
   */
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
    const shownTags = ctx.get('If-None-Match').split(/, */);
    const news = loaded.filter(({ etag }) => !shownTags.includes(etag));
    ctx.status = news.length === 0 ? 304 : 200;
    if (news.length === 0) return;
    const key = JSON.stringify(['fragment', ctx.path, ctx.querystring, ...news.map(({ etag }) => etag)]);
    ctx.type = 'html';
    const cachedText = await this.#cache.peek<SharedText>(key);
    if (cachedText !== undefined) return cachedText.send(ctx);
    let isShared = true;
    const formToken = (): string => {
      isShared = false;
      return requestContext.formToken();
    };
    const locals = { may: requestContext.may, formToken, regions: news };
    const text = new SharedText(this.#layout.render(ctx, 'regions', locals));
    if (isShared) void this.#cache.read(key, () => Promise.resolve(text));
    await text.send(ctx);
  }

  /** @throws {StorageUnavailableError} if every region failed with this error */
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

  /** Loads a region once for all viewers of the same URL, because its data does not depend on the viewer. */
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

/**
 * Adds the version of the viewer's forms to the entity tag. Form tokens and roles can change while the data does not.
 */
function shownTo({ version }: RequestContext, region: LoadedRegion): LoadedRegion {
  return { ...region, etag: region.etag.replace(/"$/, `.${version}"`) };
}

/** The text of a fragment, compressed once for all viewers. */
class SharedText {
  readonly #text: string;
  #zipped: Promise<Buffer> | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  async send(ctx: Context): Promise<void> {
    ctx.body = this.#text;
    await compress(ctx, () => (this.#zipped ??= zip(this.#text)));
  }
}
