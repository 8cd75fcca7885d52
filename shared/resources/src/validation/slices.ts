import { setImmediate as otherRequests } from 'node:timers/promises';

/** For so long one request's elements are worked on before other requests have their turn. */
const sliceMs = 10;

/** What `work` makes of one element after another, in the same slices. */
export async function mapInSlices<Element, Result>(
  elements: readonly Element[],
  work: (element: Element, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  await inSlices(elements, (element, index) => void results.push(work(element, index)));
  return results;
}

/** Works on one element after another, in slices of time between which other requests are served. */
export async function inSlices<Element>(
  elements: readonly Element[],
  work: (element: Element, index: number) => void,
): Promise<void> {
  let startedAt = performance.now();
  for (const [index, element] of elements.entries()) {
    work(element, index);
    if (performance.now() - startedAt < sliceMs) continue;
    await otherRequests();
    startedAt = performance.now();
  }
}
