import { nextTurn, turnIsOver } from '@longshore/edge';

/**
 * Number of elements between two readings of the clock. Reading the clock takes about as long as processing a simple
 * element.
 */
const elementsPerClockRead = 64;

/**
 * Maps elements in order, in time slices: other work runs in between, and before the results of many elements are
 * returned, because their caller usually goes on with them.
 */
export async function mapInSlices<Element, Result>(
  elements: readonly Element[],
  work: (element: Element, index: number) => Result,
): Promise<Result[]> {
  // Few elements are a slice of their own, without a look at the clock. Most calls have one element.
  if (elements.length <= elementsPerClockRead) return elements.map((element, index) => work(element, index));
  const results: Result[] = [];
  for (const [index, element] of elements.entries()) {
    results.push(work(element, index));
    if (index % elementsPerClockRead === 0 && turnIsOver()) await nextTurn();
  }
  if (turnIsOver()) await nextTurn();
  return results;
}

/** Like {@link mapInSlices}, but yields the results in slices of `length` elements. */
export async function* slicesOf<Element, Result>(
  elements: readonly Element[],
  length: number,
  work: (element: Element) => Result,
): AsyncGenerator<Result[]> {
  for (let from = 0; from < elements.length; from += length) {
    const slice = elements.slice(from, from + length);
    const isShort = slice.length <= elementsPerClockRead; // saves a promise for each job that is enqueued alone
    yield isShort ? slice.map((element) => work(element)) : await mapInSlices(slice, (each) => work(each));
  }
}
