import type { Context } from 'koa';
import type { Cache } from '../cache/cache.js';
import { compress, zip } from '../http/compression.js';

/** The data that differs between the viewers of a fragment. */
export interface ViewerData {
  readonly formToken: () => string;
}

/**
 * Renders and compresses fragments of pages. Caches the results for all viewers, except for fragments with forms: these
 * are rendered for each viewer, because form tokens differ.
 */
export class Fragments {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** @param key identifies everything that the rendered text depends on, apart from the viewer */
  async send(
    ctx: Context,
    key: string,
    ofViewer: ViewerData,
    render: (ofViewer: ViewerData) => string,
  ): Promise<void> {
    ctx.type = 'html';
    const known = await this.#cache.peek<SharedText>(key);
    if (known !== undefined) return known.send(ctx);
    let isShared = true;
    const formToken = (): string => {
      isShared = false;
      return ofViewer.formToken();
    };
    const text = new SharedText(render({ formToken }));
    if (isShared) void this.#cache.read(key, () => Promise.resolve(text));
    await text.send(ctx);
  }
}

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
