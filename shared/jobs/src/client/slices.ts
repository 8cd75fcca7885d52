import { setImmediate as otherWork } from 'node:timers/promises';

/** Time after which a call yields to the event loop, in milliseconds. */
const sliceMs = 10;

/**
 * Number of elements between two readings of the clock. Reading the clock takes about as long as processing a simple
 * element.
 */
const elementsPerClockRead = 64;

/** Maps elements in order. Yields to the event loop whenever about `sliceMs` have passed. */
export async function mapInSlices<Element, Result>(
  elements: readonly Element[],
  work: (element: Element, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let startedAt = performance.now();
  for (const [index, element] of elements.entries()) {
    results.push(work(element, index));
    if (index % elementsPerClockRead !== 0 || performance.now() - startedAt < sliceMs) continue;
    await otherWork();
    startedAt = performance.now();
  }
  return results;
}

/**
 * Maps elements in order, and yields the results in slices of `length`. Before a slice, lets other work run if at least
 * `sliceMs` have passed since other work last ran.
 */
export async function* slicesOf<Element, Result>(
  elements: readonly Element[],
  length: number,
  work: (element: Element) => Result,
): AsyncGenerator<Result[]> {
  let startedAt = performance.now();
  for (let from = 0; from < elements.length; from += length) {
    if (performance.now() - startedAt >= sliceMs) {
      await otherWork();
      startedAt = performance.now();
    }
    yield elements.slice(from, from + length).map((element) => work(element));
  }
}
