import { type Breach } from '@longshore/test-support';
import { curlOf, type Request } from './request.js';

interface Finding {
  count: number;
  detail: string;
  request: Request;
  size: number;
  baseUrl: string;
}

/** Collects violations. For each kind, keeps the count and the shortest request that caused the violation. */
export class Findings {
  readonly #byPlace = new Map<string, Map<string, Finding>>();

  /** @param place the operation, or another tested location */
  add(place: string, { fault, detail }: Breach, baseUrl: string, request: Request): void {
    const findings = this.#byPlace.get(place) ?? new Map<string, Finding>();
    this.#byPlace.set(place, findings);
    const size = request.path.length + JSON.stringify(request.headers).length + (request.body?.length ?? 0);
    const known = findings.get(fault);
    const example = { detail, request, size, baseUrl };
    if (known === undefined) findings.set(fault, { count: 1, ...example });
    else {
      known.count += 1;
      if (size < known.size) Object.assign(known, example);
    }
  }

  /** @throws {Error} listing the violations at this location, if there are any */
  throwFor(place: string): void {
    const findings = [...(this.#byPlace.get(place) ?? [])];
    if (findings.length === 0) return;
    const lines = findings
      .toSorted(([, one], [, other]) => other.count - one.count)
      .map(
        ([what, { count, detail, request, baseUrl }]) =>
          `× ${count}: ${what}\n      ${detail.replaceAll('\n', '\n      ')}\n      ${curlOf(baseUrl, request)}`,
      );
    const error = new Error(`${place}\n    ${lines.join('\n    ')}`);
    error.stack = error.message; // the stack trace would not help
    throw error;
  }
}
