/** Maximum number of values that a label has in one process, apart from {@link others}. */
export const maxLabelValues = 100;

/** Stands for all values of a label beyond the maximum. No queue, job type or route has this name. */
export const others = '(others)';

/**
 * The values of a label whose number nothing else limits, such as the names of job types: the first hundred that the process
 * has seen, in order. They never change, because the series of a counter must not jump.
 */
export class LabelValues {
  readonly #seen = new Set<string>();
  readonly #onNew: (value: string) => void;

  /** @param onNew called with each value before it is returned for the first time; by default, nothing is */
  constructor(onNew: (value: string) => void = () => undefined) {
    this.#onNew = onNew;
  }

  /** Returns the value itself, or {@link others} if there are too many. */
  of(value: string): string {
    if (this.#seen.has(value)) return value;
    const isTooMany = this.#seen.size >= maxLabelValues;
    const label = isTooMany ? others : value;
    if (this.#seen.has(label)) return label;
    this.#seen.add(label);
    this.#onNew(label);
    return label;
  }
}
