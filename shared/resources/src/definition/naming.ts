/** The naming rules of paths and fields. Each throws a DefinitionError that states the rule. */

/** A resource definition that cannot be served; thrown at start-up. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** Names with a meaning of their own in collection queries. */
export const reservedParameters = ['q', 'sort', 'fields', 'limit', 'offset', 'after', 'before'] as const;

/** Path segments of resources: plural lower-case nouns, dashes between words. */
export function requirePluralNoun(name: string, singular: string): void {
  requireDashed(name, 'resource name');
  if (name === singular) {
    throw new DefinitionError(
      `resource name "${name}" must be a plural noun; give its singular form in "singular" if it is one`,
    );
  }
}

/** Path segments of special operations: lower-case verbs, dashes between words. */
export function requireVerb(verb: string): void {
  requireDashed(verb, 'operation');
}

/** Fields and query parameters: camel case. */
export function requireFieldName(name: string, where: string): void {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) {
    throw new DefinitionError(
      `${where}: "${name}" must be camel case: a lower-case letter, then letters and digits`,
    );
  }
}

/** The singular of a regular English plural; the name itself if it does not look like a plural. */
export function singularOf(plural: string): string {
  if (/[^aeiou]ies$/.test(plural)) return plural.replace(/ies$/, 'y');
  if (/(?:ch|sh|x|ss|z)es$/.test(plural)) return plural.replace(/es$/, '');
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural;
}

function requireDashed(name: string, what: string): void {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) {
    throw new DefinitionError(
      `${what} "${name}" must be lower-case letters and digits with single dashes between words, never an underscore`,
    );
  }
}
