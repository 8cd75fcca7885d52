/** An elapsed time that keeps growing: “3 min 12 s”. */
export interface Elapsed {
  readonly since: Date;
}

/** A point in time: “in 3 min”, “3 min ago”. */
export interface Moment {
  readonly at: Date;
}

/**
 * Text with times in it, which are formatted when it is shown. The text itself stays the same as long as
 * nothing changes, so refreshes can be answered with 304.
 */
export type Sentence = readonly (string | Elapsed | Moment)[];

/** Builds a sentence: sentence`Paused for ${{ since }}.` */
export function sentence(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Elapsed | Moment | Sentence)[]
): Sentence {
  return texts.flatMap((text, index) => {
    const value = values[index] ?? '';
    if (typeof value === 'number') return [text, String(value)];
    return isSentence(value) ? [text, ...value] : [text, value];
  });
}

function isSentence(value: string | Elapsed | Moment | Sentence): value is Sentence {
  return Array.isArray(value);
}
