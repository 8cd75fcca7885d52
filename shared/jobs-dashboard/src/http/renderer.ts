import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ejs, { type TemplateFunction } from 'ejs';
import { counted, formatCount, formatNumber } from '../format/count.js';
import { formatDuration } from '../format/duration.js';
import { formatRate } from '../format/rate.js';
import { sections } from '../pages/page.js';
import { outcomeLook, stateLook } from '../format/state-look.js';
import { timeIn } from '../format/zoned-time.js';

const folder = new URL('../../views/', import.meta.url);

/** What every view can call. */
const formats = {
  counted,
  formatCount,
  formatDuration,
  formatNumber,
  formatRate,
  outcomeLook,
  sections,
  stateLook,
  timeIn,
};

const compileOptions = {
  strict: true,
  localsName: 'it',
  rmWhitespace: true,
  /** Without it, all that a page has would be copied for each view; a page has no prototype that could be polluted. */
  unsafePrototypeLocals: true,
};

/** The views, compiled once at start-up; a view that does not compile stops the start. In a view, `it` holds everything. */
export class Renderer {
  readonly #views: ReadonlyMap<string, TemplateFunction>;

  constructor() {
    const names = readdirSync(folder).filter((name) => name.endsWith('.ejs'));
    this.#views = new Map(names.map((name) => [name.slice(0, -'.ejs'.length), compile(name)]));
  }

  /**
   * An included view finds in `it` what the whole page has, and before that its own. (EJS’s own `include` looks for the
   * file and copies everything each time: ten times as long for a list of 50 jobs.)
   *
   * Throws if there is no such view or it asks for what it was not given.
   */
  render(view: string, it: object): string {
    const page = Object.assign(Object.create(null) as object, formats, it, {
      include: (name: string, own: object): string =>
        this.#view(name)(Object.assign(Object.create(page) as object, own)),
    });
    return this.#view(view)(page);
  }

  #view(name: string): TemplateFunction {
    const view = this.#views.get(name);
    if (view === undefined) throw new Error(`No such view: ${name}`);
    return view;
  }
}

function compile(name: string): TemplateFunction {
  const filename = fileURLToPath(new URL(name, folder));
  return ejs.compile(readFileSync(filename, 'utf8'), { ...compileOptions, filename });
}
