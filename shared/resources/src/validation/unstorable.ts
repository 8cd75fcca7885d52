import { listedProblems, type Problem } from '../errors/api-error.js';
import { join } from './field-path.js';

/** Bodies nested deeper than this are refused; no honest one is, and recursion over the others has an end. */
const deepest = 100;

/** Longer field names are cut in messages. */
const shownCharacters = 100;

/** Finds what Postgres cannot hold: NUL, surrogates without their other half, and absurdly deep nesting. At most 100 problems. */
export function unstorable(value: unknown, place: string): readonly Problem[] {
  const search = new Search(place);
  search.visit(value);
  return search.problems;
}

/** Every body is searched whole, so a place is put into words only if something is wrong there. */
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
    if (typeof value !== 'object' || value === null || this.problems.length >= listedProblems) return;
    if (this.#path.length === deepest) this.#add(`the body is nested deeper than ${deepest} levels`);
    else if (Array.isArray(value))
      for (let index = 0; index < value.length; index++) this.#enter(index, value[index]);
    else this.#visitMembers(value as Readonly<Record<string, unknown>>);
  }

  #visitMembers(members: Readonly<Record<string, unknown>>): void {
    for (const name of Object.keys(members)) {
      if (!isStorable(name))
        this.#add(
          `the field name ${JSON.stringify(name.slice(0, shownCharacters))} must be well-formed text without NUL`,
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
      (place, step) =>
        typeof step === 'number' ? `${place}[${step}]` : join(place, step.slice(0, shownCharacters)),
      this.#root,
    );
  }

  #add(internalMessage: string): void {
    if (this.problems.length < listedProblems) this.problems.push({ code: 42202, internalMessage });
  }
}

function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
