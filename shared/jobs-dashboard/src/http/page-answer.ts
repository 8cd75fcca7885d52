import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Page, Redirect, Region } from '../pages/page.js';
import { ReadTooSlowError, withDeadline } from '../reading/deadline.js';
import type { Snapshot } from '../reading/snapshot.js';
import type { Layout } from './layout.js';
import { badRequest } from './problem.js';
import type { Visit } from './visit.js';

/** The request header that names the one region a refresh asks for. */
export const REGION_HEADER = 'Longshore-Region';

interface LoadedRegion extends Region {
  /** `null` if it took longer than the page would wait. */
  readonly model: object | null;
  readonly etag: string;
}

/** Turns a page into the answer: the whole of it, or one region as a fragment, or 304 if that has not changed. */
export class PageAnswer {
  readonly #layout: Layout;
  readonly #snapshot: Snapshot;
  readonly #readTimeoutMs: number;

  constructor(layout: Layout, snapshot: Snapshot, readTimeoutMs: number) {
    this.#layout = layout;
    this.#snapshot = snapshot;
    this.#readTimeoutMs = readTimeoutMs;
  }

  async send(ctx: Context, visit: Visit, page: Page | Redirect): Promise<void> {
    if ('redirect' in page) {
      ctx.status = 303;
      ctx.set('Location', this.#layout.links(ctx)(page.redirect));
      return;
    }
    const wanted = ctx.get(REGION_HEADER);
    if (wanted === '') await this.#sendWhole(ctx, visit, page);
    else await this.#sendRegion(ctx, visit, page, wanted);
  }

  async #sendWhole(ctx: Context, visit: Visit, page: Page): Promise<void> {
    const loaded = await Promise.all(page.regions.map((region) => this.#load(ctx, region)));
    const regions = Object.fromEntries(loaded.map((region) => [region.name, region]));
    this.#layout.send(ctx, page.view, { ...page, ...visit, regions });
  }

  async #sendRegion(ctx: Context, visit: Visit, page: Page, name: string): Promise<void> {
    const region = page.regions.find((candidate) => candidate.name === name);
    if (region === undefined)
      throw badRequest('There is no such region', 'This page has no part of that name.');
    const loaded = await this.#load(ctx, region);
    ctx.status = 200;
    ctx.set('ETag', loaded.etag);
    if (ctx.get('If-None-Match') === loaded.etag) ctx.status = 304;
    else this.#layout.send(ctx, 'region-content', { title: page.title, ...visit, region: loaded });
  }

  /** Shared by all who look at the same address: what regions show does not depend on the viewer. */
  #load(ctx: Context, region: Region): Promise<LoadedRegion> {
    const key = JSON.stringify(['region', region.name, ctx.path, ctx.querystring]);
    return this.#snapshot.share(key, () => this.#loadInTime(region));
  }

  async #loadInTime(region: Region): Promise<LoadedRegion> {
    try {
      const model = await withDeadline(region.load(), this.#readTimeoutMs);
      return { ...region, model, etag: this.#etag(region.view, model) };
    } catch (error) {
      if (!(error instanceof ReadTooSlowError)) throw error;
      return { ...region, model: null, etag: this.#etag(region.view, { late: true }) };
    }
  }

  /** Weak: the same model may be shown with other relative times. */
  #etag(view: string, model: object): string {
    const hash = createHash('sha1').update(this.#layout.version).update(view).update(JSON.stringify(model));
    return `W/"${hash.digest('base64url')}"`;
  }
}
