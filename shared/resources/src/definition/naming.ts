import { brand } from '@longshore/edge';
import indefinite from 'indefinite';
import { pluralize, singularize } from 'inflection';

/** Thrown at start-up for a resource definition that breaks a rule. The message states the rule. */
export class DefinitionError extends Error {
  static {
    brand(this, 'DefinitionError');
  }

  override readonly name = 'DefinitionError';
}

/**
 * Checks that a resource's name is in lower case, with dashes between words, and differs from the singular.
 * @throws {DefinitionError} otherwise
 */
export function requirePluralNoun(name: string, singular: string): void {
  requireDashed(name, 'resource name');
  if (name === singular) {
    throw new DefinitionError(
      `resource name "${name}" must be a plural noun; give its singular form in "singular" if it is one`,
    );
  }
}

/**
 * Checks that an operation's name is in lower case, with dashes between words.
 * @throws {DefinitionError} otherwise
 */
export function requireVerb(verb: string): void {
  requireDashed(verb, 'operation');
}

/**
 * Checks that the name of a field or query parameter is in camel case.
 * @throws {DefinitionError} otherwise
 */
export function requireFieldName(name: string, where: string): void {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) {
    throw new DefinitionError(
      `${where}: "${name}" must be camel case: a lower-case letter, then letters and digits`,
    );
  }
}

/**
 * Returns the singular of an English plural, or the name itself if it is not a plural: `job-definitions` →
 * `job-definition`.
 */
export function singularOf(plural: string): string {
  return singularize(plural);
}

/**
 * Returns the noun for an item in sentences: the `noun` of the definition or, by default, the singular with spaces. For
 * example, `api-key` becomes `API key`.
 */
export function nameInProse({ singular, noun }: Named): string {
  return noun ?? singular.replace(/^api(?=-)/, 'API').replaceAll('-', ' ');
}

interface Named {
  readonly singular: string;
  readonly noun?: string | undefined;
}

/** Returns the plural of a noun in prose: `set-aside item` → `set-aside items`. */
export function pluralOf(singular: string): string {
  return pluralize(singular);
}

/** Returns the noun for several items in sentences, such as `line items`. */
export function namesInProse(resource: Named): string {
  return pluralOf(nameInProse(resource));
}

/** Adds the indefinite article to words: `an order`, `a car`. */
export function withArticle(words: string): string {
  return indefinite(words);
}

/** Returns words with a capital first letter: `An order`. */
export function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function requireDashed(name: string, what: string): void {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) {
    throw new DefinitionError(
      `${what} "${name}" must be lower-case letters and digits with single dashes between words, never an underscore`,
    );
  }
}
