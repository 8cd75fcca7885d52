import { setImmediate as otherWork } from 'node:timers/promises';

/** How long a call may block the event loop before it yields, in milliseconds. */
const sliceMs = 10;

/** Maps elements in order, yielding to the event loop between time slices. */
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
