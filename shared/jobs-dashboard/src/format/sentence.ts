/** How long something has lasted: “3 min 12 s”, and growing. */
export interface Elapsed {
  readonly since: Date;
}

/** When something comes or came: “in 3 min”, “3 min ago”. */
export interface Moment {
  readonly at: Date;
}

/**
 * Text with times in it. They are told when somebody looks, so that the text is the same as long as nothing has happened,
 * and browsers that ask again have it already.
 */
export type Sentence = readonly (string | Elapsed | Moment)[];

/** Makes a sentence: sentence`Paused for ${{ since }}.` */
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
