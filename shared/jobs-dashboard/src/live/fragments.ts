import type { Context } from 'koa';
import type { Cache } from '../cache.js';
import { compress, zip } from '../http/compression.js';

/** What a part of a page is rendered with that is of one viewer only. */
export interface OfViewer {
  readonly formToken: () => string;
}

/**
 * Parts of pages, rendered and compressed once for all viewers who ask for the same ones within the life of the snapshot.
 * What holds a form is rendered for each: its token is of one viewer.
 */
export class Fragments {
  readonly #cache: Cache;

  constructor(cache: Cache) {
    this.#cache = cache;
  }

  /** @param key of all that what is rendered depends on, but the viewer */
  async send(
    ctx: Context,
    key: string,
    ofViewer: OfViewer,
    render: (ofViewer: OfViewer) => string,
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
