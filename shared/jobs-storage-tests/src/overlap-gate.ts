/** Makes handlers overlap: none passes before `size` of them have been at the gate at once. Counts those at the gate. */
export class OverlapGate {
  /** The highest number of handlers that were at the gate at once. */
  most = 0;
  #here = 0;
  readonly #size: number;
  readonly #full: Promise<void>;
  #open: () => void = () => undefined;

  constructor(size: number) {
    this.#size = size;
    this.#full = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  async pass(): Promise<void> {
    this.most = Math.max(this.most, ++this.#here);
    if (this.#here === this.#size) this.#open();
    await this.#full;
    await new Promise((resolve) => setImmediate(resolve)); // lets others arrive meanwhile
    this.#here--;
  }
}
