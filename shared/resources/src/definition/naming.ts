/** A resource definition that breaks a rule, which the message states; thrown at start-up. */
export class DefinitionError extends Error {
  override readonly name = 'DefinitionError';
}

/** Checks a resource's name: a plural noun in lower case, dashes between words. */
export function requirePluralNoun(name: string, singular: string): void {
  requireDashed(name, 'resource name');
  if (name === singular) {
    throw new DefinitionError(
      `resource name "${name}" must be a plural noun; give its singular form in "singular" if it is one`,
    );
  }
}

/** Checks an operation's name: a verb in lower case, dashes between words. */
export function requireVerb(verb: string): void {
  requireDashed(verb, 'operation');
}

/** Checks the name of a field or query parameter: camel case. */
export function requireFieldName(name: string, where: string): void {
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) {
    throw new DefinitionError(
      `${where}: "${name}" must be camel case: a lower-case letter, then letters and digits`,
    );
  }
}

/** Returns the singular of a regular English plural, or the name itself if it does not look like a plural. */
export function singularOf(plural: string): string {
  if (/[^aeiou]ies$/.test(plural)) return plural.replace(/ies$/, 'y');
  if (/(?:ch|sh|x|ss|z)es$/.test(plural)) return plural.replace(/es$/, '');
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural;
}

/** Returns the singular as words in a sentence: `store-customer` → `store customer`. */
export function nameInProse({ singular }: { readonly singular: string }): string {
  return singular.replaceAll('-', ' ');
}

function requireDashed(name: string, what: string): void {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name)) {
    throw new DefinitionError(
      `${what} "${name}" must be lower-case letters and digits with single dashes between words, never an underscore`,
    );
  }
}
