/**
 * Minimum word similarity of a match for `q`. For example, a four-letter word with a wrong first letter has a
 * similarity of 0.4: it shares two of five trigrams.
 */
export const similarityThreshold = 0.35;

/** Searches texts in memory by the same word similarity that `pg_trgm` uses in table searches. */
export class TextSearch {
  readonly #search: string;
  readonly #trigrams: ReadonlySet<string>;

  constructor(search: string) {
    this.#search = search.toLowerCase();
    this.#trigrams = new Set(trigramsOf(this.#search));
  }

  /**
   * Returns how well a text matches: 2 or more if it contains the search, otherwise the word similarity. Returns
   * undefined if the text does not match.
   */
  rank(text: string): number | undefined {
    const lower = text.toLowerCase();
    const similarity = this.#wordSimilarity(trigramsOf(lower));
    if (lower.includes(this.#search)) return 2 + similarity;
    return similarity >= similarityThreshold ? similarity : undefined;
  }

  /**
   * Returns the word similarity: the largest share of common trigrams between the search and any contiguous part of the
   * text.
   */
  #wordSimilarity(trigrams: readonly string[]): number {
    const size = this.#trigrams.size;
    let greatest = 0;
    for (let start = 0; start < trigrams.length; start += 1) {
      if (!this.#trigrams.has(trigrams[start] ?? '')) continue;
      const all = new Set<string>();
      const common = new Set<string>();
      // A part that ends later cannot reach the threshold unless it repeats trigrams, so later ends are not tried.
      const end = Math.min(trigrams.length, start + Math.ceil(size / similarityThreshold));
      for (const trigram of trigrams.slice(start, end)) {
        all.add(trigram);
        if (this.#trigrams.has(trigram)) common.add(trigram);
        greatest = Math.max(greatest, common.size / (size + all.size - common.size));
      }
    }
    return greatest;
  }
}

/** Returns the trigrams of all words. Each word is padded with two spaces before it and one after it. */
function trigramsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) => {
    const letters = Array.from(`  ${word} `);
    return letters.slice(2).map((_, index) => letters.slice(index, index + 3).join(''));
  });
}
