/** Returns the form for Citus of a statement, given the usual one. Both have the same parameters and result columns. */
export type Form = (usual: string) => string;

/** Forms by the names of their statements. */
export type Forms = Readonly<Record<string, Form>>;

/** Returns a form that shares nothing with the usual one. */
export function written(text: string): Form {
  return () => text;
}

/**
 * Returns a form that differs from the usual one in some parts.
 *
 * @throws {Error} when it is used, if the usual one lacks one of the parts
 */
export function changed(...changes: readonly (readonly [part: string | RegExp, other: string])[]): Form {
  return (usual) =>
    changes.reduce((text, [part, other]) => {
      const result = text.replaceAll(typeof part === 'string' ? part : new RegExp(part, 'g'), () => other);
      if (result === text)
        throw new Error(`A form for Citus changes a part that is missing: ${String(part)}`);
      return result;
    }, usual);
}
