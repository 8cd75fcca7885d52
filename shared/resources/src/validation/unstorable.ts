import { isStorable, shorten } from '@longshore/edge';
import { maxListedProblems, type Problem } from '../errors/api-error.js';
import { join } from './json-schema.js';

/** Maximum nesting depth of a body. Also limits the depth of recursion. */
const maxDepth = 100;

/** Maximum length of a field name in messages, in characters. Longer names are truncated. */
const shownCharacters = 100;

/**
 * Finds values that are nested too deeply, and text that Postgres cannot store because it contains NUL or lone
 * surrogates. Returns at most 100 problems.
 *
 * @param root the position of the value in the request, for messages; may be empty
 */
export function unstorable(value: unknown, root: string): readonly Problem[] {
  const search = new Search(root);
  search.visit(value);
  return search.problems;
}

/** Visits every part of a body. Formats the path of a value only for messages, to keep the search fast. */
class Search {
  readonly problems: Problem[] = [];
  readonly #root: string;
  readonly #path: (string | number)[] = [];

  constructor(root: string) {
    this.#root = root;
  }

  visit(value: unknown): void {
    if (typeof value === 'string') {
      if (!isStorable(value)) this.#add(`${this.#place()} must be well-formed text without NUL`);
      return;
    }
    if (typeof value !== 'object' || value === null || this.problems.length >= maxListedProblems) return;
    if (this.#path.length === maxDepth) this.#add(`the body is nested deeper than ${maxDepth} levels`);
    else if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) this.#enter(index, value[index]);
    else this.#visitMembers(value as Readonly<Record<string, unknown>>);
  }

  #visitMembers(members: Readonly<Record<string, unknown>>): void {
    for (const name of Object.keys(members)) {
      if (!isStorable(name))
        this.#add(
          `the field name ${JSON.stringify(shorten(name, shownCharacters))} must be well-formed text without NUL`,
        );
      this.#enter(name, members[name]);
    }
  }

  #enter(step: string | number, value: unknown): void {
    this.#path.push(step);
    this.visit(value);
    this.#path.pop();
  }

  #place(): string {
    return this.#path.reduce<string>(
      (path, step) =>
        typeof step === 'number' ? `${path}[${step}]` : join(path, shorten(step, shownCharacters)),
      this.#root,
    );
  }

  #add(internalMessage: string): void {
    if (this.problems.length < maxListedProblems) this.problems.push({ code: 42202, internalMessage });
  }
}
