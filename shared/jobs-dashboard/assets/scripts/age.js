const LONGEST_PAUSE_MS = 30_000;

/** Tracks how old a region's content is and when its next refresh is due. */
export class Age {
  #region;
  updatedAt = 0;
  failures = 0;
  dueAt = 0;

  /** @param {HTMLElement} region */
  constructor(region) {
    this.#region = region;
    this.updated();
    this.plan();
  }

  plan() {
    this.dueAt = Date.now() + this.#everyMs;
  }

  /**
   * Returns whether the region is due within a quarter of its refresh interval. Because of this tolerance, one request
   * can refresh several regions.
   *
   * @param {number} now
   */
  isDue(now) {
    return this.dueAt - this.#everyMs / 4 <= now;
  }

  /** Notes that the region shows the state of this moment. Its elapsed times do not count on until it is updated again. */
  updated() {
    this.updatedAt = Date.now();
    this.#region.dataset['asOf'] = String(this.updatedAt);
    this.failures = 0;
  }

  failed() {
    this.failures = Math.min(this.failures + 1, 5);
  }

  get #everyMs() {
    return Math.min(Number(this.#region.dataset['every']) * 2 ** this.failures, LONGEST_PAUSE_MS);
  }
}
