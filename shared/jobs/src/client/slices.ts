import { setImmediate as otherWork } from 'node:timers/promises';

/** How long a call may block the event loop before it yields, in milliseconds. */
const sliceMs = 10;

/**
 * Number of elements after which the clock is read again. The clock is not read for every element, because a reading
 * takes about as long as processing a simple element.
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
 * Maps elements in order, and yields the results in slices of `length`. Before a slice, lets the event loop run if
 * `sliceMs` have passed since it last did so.
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
