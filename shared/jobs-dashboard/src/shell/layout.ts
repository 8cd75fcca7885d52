import type { Context } from 'koa';
import { timeText } from '../format/time.js';
import type { Assets } from '../http/assets.js';
import { densityOf } from './display.js';
import type { BasePath, Link } from '../http/address.js';
import type { Renderer } from './renderer.js';
import type { RequestContext } from './request-context.js';

interface Content extends RequestContext {
  readonly title: string;
  readonly [name: string]: unknown;
}

/** Renders pages. Provides what all views need: relative links, hashed assets and the current time. */
export class Layout {
  readonly #basePath: BasePath;
  readonly #assets: Assets;
  readonly #renderer: Renderer;
  readonly #now: () => number;
  readonly #instance: string;

  /** @param instance the name of the installation, shown on every page unless it is empty */
  constructor(basePath: BasePath, assets: Assets, renderer: Renderer, now: () => number, instance: string) {
    this.#basePath = basePath;
    this.#assets = assets;
    this.#renderer = renderer;
    this.#now = now;
    this.#instance = instance;
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
  render(ctx: Context, view: string, own: object): string {
    const link = this.links(ctx);
    const nowMs = this.#now();
    return this.#renderer.render(view, {
      ...own,
      link,
      asset: (name: string) => link(this.#assets.path(name)),
      logo: this.#assets.logo,
      instance: this.#instance,
      density: densityOf(ctx),
      now: new Date(nowMs),
      time: (at: Date) => timeText(at, nowMs),
      elapsedMs: (from: Date, until: Date | null) => (until?.getTime() ?? nowMs) - from.getTime(),
    });
  }
}
