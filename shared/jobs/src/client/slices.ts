import { setImmediate as otherWork } from 'node:timers/promises';

/** For so long one call is worked on, in milliseconds, before other work of the process has its turn. */
const sliceMs = 10;

/** What `work` makes of one element after another, in slices of time between which the event loop goes on. */
export async function mapInSlices<Element, Result>(
  elements: readonly Element[],
  work: (element: Element, index: number) => Result,
): Promise<Result[]> {
  const results: Result[] = [];
  let startedAt = performance.now();
  for (const [index, element] of elements.entries()) {
    results.push(work(element, index));
    if (performance.now() - startedAt < sliceMs) continue;
    await otherWork();
    startedAt = performance.now();
  }
  return results;
}
