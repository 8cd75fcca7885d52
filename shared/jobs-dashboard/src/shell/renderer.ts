import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { shorten } from '@longshore/edge';
import type { SkippedDueTimes } from '@longshore/jobs/storage';
import ejs, { type TemplateFunction } from 'ejs';
import { counted, countedJobs, formatCount, formatNumber, formatRate } from '../format/count.js';
import { outcomeBadge, stateBadge } from '../format/state-badge.js';
import { formatDuration, timeIn } from '../format/time.js';
import { sections } from './page.js';

/** The source folder. Views are read from here, because the compiler does not copy them to its output. */
const folder = fileURLToPath(new URL('../../src/', import.meta.url));

/** Matches the line that begins a view in a file. The view ends at the next such line or at the end of the file. */
const beginning = /^<%# view: ([\w-]+) %>\n/gm;

/** Why no job was enqueued at a due time of a recurring job. */
const missedReason: Readonly<Record<SkippedDueTimes['reason'], string>> = {
  overlap: 'the previous run was unfinished',
  misfire: 'no server was running',
  backlog: 'the queue was full',
  duplicate: 'another job held its unique key',
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
  shorten,
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
      include: (name: string, locals: object): string =>
        this.#view(name)(Object.assign(Object.create(page) as object, locals)),
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

/** Matches characters of scripts that are written from right to left, and characters that change the direction of text. */
const changesDirection =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Returns a value as HTML that does not change the order of what stands around it. Text that may run from right to left
 * is an element `bdi`; other text, which is nearly all of it, needs none.
 */
function isolated(value: unknown): string {
  const text = ejs.escapeXML(value);
  return changesDirection.test(text) ? `<bdi>${balanced(text)}</bdi>` : text;
}

const isolates = '\u2066\u2067\u2068';
const end = '\u2069';

/**
 * Removes the ends of isolates that the text does not begin, and ends those that it does not end. Browsers treat an
 * element as an isolate of its own, which such characters would end too early or keep open.
 */
function balanced(text: string): string {
  let open = 0;
  const kept = text.replaceAll(/[\u2066-\u2069]/g, (mark) => {
    if (isolates.includes(mark)) open += 1;
    else if (open === 0) return '';
    else open -= 1;
    return mark;
  });
  return kept + end.repeat(open);
}

/** Elements whose content is text, in which a browser would show `<bdi>` literally. */
const textOnly = /<(title|textarea|option|script|style)\b[^<]*$/i;

/**
 * Rewrites a template so that everything that it shows as text is isolated. Attributes, and elements that can contain
 * only text, stay as they are.
 */
function withIsolatedTexts(template: string): string {
  let html = '';
  return template.replaceAll(
    /<%(?<kind>[=_-]?)(?<code>(?:(?!%>)[^])*?)(?<end>[_-]?)%>|[^<]+|</g,
    (part, ...groups) => {
      const {
        kind,
        code = '',
        end: closing = '',
      } = groups.at(-1) as Readonly<Record<string, string | undefined>>;
      if (!part.startsWith('<%')) {
        html += part;
        return part;
      }
      const isInTag = html.lastIndexOf('<') > html.lastIndexOf('>');
      if (kind !== '=' || isInTag || textOnly.test(html)) return part;
      return `<%- it.isolated(${code.trim()}) ${closing}%>`;
    },
  );
}

/** A name split into three parts. The middle of a long name is hidden. */
interface CutText {
  readonly start: string;
  /** The hidden part; empty if the whole name is shown. */
  readonly middle: string;
  readonly end: string;
}

/** Names of up to this many characters are shown in full. */
const MAX_CHARACTERS = 36;
const START = 22;
const END = 12;

/** Splits a name for display. Concatenated, the three parts are the original name. */
function cutMiddle(text: string): CutText {
  const characters = Array.from(text);
  if (characters.length <= MAX_CHARACTERS) return { start: text, middle: '', end: '' };
  return {
    start: characters.slice(0, START).join(''),
    middle: characters.slice(START, -END).join(''),
    end: characters.slice(-END).join(''),
  };
}
