import type { Breach } from './contract.js';

interface Finding {
  count: number;
  detail: string;
  curl: string;
}

/** What was found, the same kept once with the shortest request that shows it. */
export class Findings {
  readonly #byPlace = new Map<string, Map<string, Finding>>();

  /** @param place the operation, or what else was looked at */
  add(place: string, { what, detail }: Breach, curl: string): void {
    const findings = this.#byPlace.get(place) ?? new Map<string, Finding>();
    this.#byPlace.set(place, findings);
    const known = findings.get(what);
    if (known === undefined) findings.set(what, { count: 1, detail, curl });
    else {
      known.count += 1;
      if (curl.length < known.curl.length) Object.assign(known, { detail, curl });
    }
  }

  /** @throws {Error} that lists what was found at the place, if anything was */
  throwFor(place: string): void {
    const findings = [...(this.#byPlace.get(place) ?? [])];
    if (findings.length === 0) return;
    const lines = findings
      .toSorted(([, one], [, other]) => other.count - one.count)
      .map(
        ([what, { count, detail, curl }]) =>
          `× ${count}: ${what}\n      ${detail.replaceAll('\n', '\n      ')}\n      ${curl}`,
      );
    const error = new Error(`${place}\n    ${lines.join('\n    ')}`);
    error.stack = error.message; // where this was thrown helps nobody
    throw error;
  }
}
