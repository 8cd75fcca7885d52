import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

/** A block of code on a page of the documentation. */
export interface Snippet {
  /** Path of the page in the repository. */
  readonly page: string;
  readonly line: number;
  /** The language of the block, such as `ts` or `sh`. */
  readonly language: string;
  readonly text: string;
  /** Path of the file that the reader writes with this content; undefined if the page names no file. */
  readonly file: string | undefined;
  /**
   * Code around an excerpt, from an HTML comment before the block; undefined if there is none. The comment starts with
   * `test` and is invisible on the rendered page.
   */
  readonly frame: string | undefined;
  /** The documented output, from the `text` block that follows; undefined if there is none. */
  readonly output: string | undefined;
}

const pattern = new RegExp(
  [
    /(?:`(?<file>[\w./-]+\.\w+)`:\n\n)?/,
    /(?:^<!-- test\n(?<frame>(?:(?!-->).)*)^-->\n\n)?/,
    /^ *```(?<language>\w+)[^\n]*\n(?<text>(?:(?!```).)*)^ *```$/,
    /(?:\n\s*^```text\n(?<output>(?:(?!```).)*)^```$)?/,
  ]
    .map(({ source }) => source)
    .join(''),
  'gms',
);

/** Returns the code blocks of all Markdown files that git tracks. */
export async function snippets(): Promise<Snippet[]> {
  const listed = await promisify(execFile)('git', ['ls-files', '--', '*.md'], { cwd: house });
  const pages = listed.stdout.trim().split('\n');
  const found = await Promise.all(
    pages.map(async (page) => snippetsOf(page, await readFile(path.join(house, page), 'utf8'))),
  );
  return found.flat();
}

function snippetsOf(page: string, text: string): Snippet[] {
  return [...text.matchAll(pattern)].map(({ index, groups = {} }) => ({
    page,
    line: text.slice(0, text.indexOf('```', index)).split('\n').length,
    language: groups['language'] ?? '',
    text: groups['text'] ?? '',
    file: groups['file'],
    frame: groups['frame'],
    output: groups['output'],
  }));
}

/**
 * Returns whether a snippet runs with only a database. This is true for a complete program with documented output, and
 * for an excerpt with a frame.
 */
export function runsByItself({ language, frame, output }: Snippet): boolean {
  return frame !== undefined || (language === 'ts' && output !== undefined);
}
