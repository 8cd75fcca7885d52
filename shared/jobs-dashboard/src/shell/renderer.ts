import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SkippedDueTimes } from '@longshore/jobs/storage';
import ejs, { type TemplateFunction } from 'ejs';
import { counted, countedJobs, formatCount, formatNumber } from '../format/count.js';
import { cutMiddle } from '../format/cut-middle.js';
import { formatDuration } from '../format/duration.js';
import { isolated, withIsolatedTexts } from '../format/isolated.js';
import { formatRate } from '../format/rate.js';
import { sections } from './page.js';
import { outcomeBadge, stateBadge } from '../format/state-badge.js';
import { timeIn } from '../format/zoned-time.js';

/** The source folder. Views are read from here, because the compiler does not copy them to its output. */
const folder = fileURLToPath(new URL('../../src/', import.meta.url));

/** Matches the line that begins a view in a file. The view ends at the next such line or at the end of the file. */
const beginning = /^<%# view: ([\w-]+) %>\n/gm;

/** Why no job was enqueued at a due time of a recurring job. */
const missedReason: Readonly<Record<SkippedDueTimes['reason'], string>> = {
  overlap: 'the previous run was unfinished',
  misfire: 'no server was running',
  backlog: 'the queue was full',
};

/** Functions and values that are available in every view. */
const formats = {
  counted,
  countedJobs,
  cutMiddle,
  formatCount,
  formatDuration,
  formatNumber,
  formatRate,
  isolated,
  missedReason,
  outcomeBadge,
  sections,
  stateBadge,
  timeIn,
};

const compileOptions = {
  strict: true,
  localsName: 'it',
  rmWhitespace: true,
  /** Prevents EJS from copying all data for each view. This is safe, because the data has no prototype to pollute. */
  unsafePrototypeLocals: true,
};

/** The compiled views by name. All dashboards in a process share them. */
let compiled: ReadonlyMap<string, TemplateFunction> | undefined;

/**
 * Renders views. Views access all their data through `it`. The first instance compiles all views; it throws if one is
 * invalid.
 */
export class Renderer {
  readonly #views = (compiled ??= compileViews());

  /**
   * Renders a view. In an included view, `it` has the members passed to `include` and inherits the others from the
   * page. EJS's own `include` is slower, because it searches for the file and copies all data each time.
   *
   * @throws {Error} if there is no such view, or if the view fails, for example because data is missing
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

/** @throws {Error} if two views have the same name, or a view is invalid */
function compileViews(): ReadonlyMap<string, TemplateFunction> {
  const views = new Map<string, TemplateFunction>();
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ejs')) continue;
    const filename = path.join(folder, file);
    const [, ...parts] = readFileSync(filename, 'utf8').split(beginning);
    for (let index = 0; index < parts.length; index += 2) {
      const [name = '', text = ''] = parts.slice(index, index + 2);
      if (views.has(name)) throw new Error(`Two views are called ${name}`);
      views.set(name, ejs.compile(withIsolatedTexts(text), { ...compileOptions, filename }));
    }
  }
  return views;
}
