/**
 * A function that converts the single-node form of a statement to the Citus form. Both have the same parameters and
 * result columns.
 */
export type Form = (usual: string) => string;

/** Citus forms by statement name. */
export type Forms = Readonly<Record<string, Form>>;

/** Returns a Citus form that always has this text. */
export function replacedBy(text: string): Form {
  return () => text;
}

/**
 * Returns a Citus form that replaces fragments of the single-node text.
 *
 * @throws {Error} when the form is used, if the single-node text lacks one of the fragments
 */
export function withReplacements(
  ...changes: readonly (readonly [part: string | RegExp, other: string])[]
): Form {
  return (usual) =>
    changes.reduce((text, [part, other]) => {
      const result = text.replaceAll(typeof part === 'string' ? part : new RegExp(part, 'g'), () => other);
      if (result === text)
        throw new Error(`A form for Citus changes a part that is missing: ${String(part)}`);
      return result;
    }, usual);
}
