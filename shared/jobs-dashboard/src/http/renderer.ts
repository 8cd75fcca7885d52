import { readdirSync } from 'node:fs';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ejs, { type TemplateFunction } from 'ejs';
import { counted, formatCount, formatNumber } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { outcomeLook, stateLook } from '../format/state-look.js';

const folder = new URL('../../views/', import.meta.url);

/** What every view can call. */
const formats = { counted, formatCount, formatDuration, formatNumber, outcomeLook, stateLook };

/** The views, compiled once at start-up; a view that does not compile stops the start. In a view, `it` holds everything. */
export class Renderer {
  readonly #views: ReadonlyMap<string, TemplateFunction>;

  constructor() {
    const names = readdirSync(folder).filter((name) => name.endsWith('.ejs'));
    this.#views = new Map(names.map((name) => [name.slice(0, -'.ejs'.length), compile(name)]));
  }

  /** Throws if there is no such view or it asks for what it was not given. */
  render(view: string, it: object): string {
    const template = this.#views.get(view);
    if (template === undefined) throw new Error(`No such view: ${view}`);
    return template({ ...formats, ...it });
  }
}

function compile(name: string): TemplateFunction {
  const filename = fileURLToPath(new URL(name, folder));
  return ejs.compile(readFileSync(filename, 'utf8'), {
    filename,
    cache: true,
    strict: true,
    localsName: 'it',
    rmWhitespace: true,
  });
}
