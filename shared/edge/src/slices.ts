/** After more elements than this, the caller goes on in a new turn if this one is over. */
const manyElements = 64;

/**
 * Processes elements in order, in time slices: other requests are served in between, and after many elements, because
 * the caller usually goes on with the results.
 *
 * @param elementsPerClockRead how many elements are processed between two readings of the clock, 50 ns each; 1 by
 *   default. For elements that take about as long as that. Fewer elements are processed without a look at the clock
 */
export async function inSlices<Element>(
  elements: readonly Element[],
  work: (element: Element, index: number) => void,
  elementsPerClockRead = 1,
): Promise<void> {
  const isLong = elements.length >= elementsPerClockRead;
  for (const [index, element] of elements.entries()) {
    if (isLong && index % elementsPerClockRead === 0 && turnIsOver()) await nextTurn();
    work(element, index);
  }
  if (elements.length > manyElements && turnIsOver()) await nextTurn();
}

/** Like {@link inSlices}, but returns the results. */
export async function mapInSlices<Element, Result>(
  elements: readonly Element[],
  work: (element: Element, index: number) => Result,
  elementsPerClockRead = 1,
): Promise<Result[]> {
  if (elements.length < elementsPerClockRead) return elements.map(work); // saves a promise for one job alone
  const results: Result[] = [];
  await inSlices(elements, (element, index) => void results.push(work(element, index)), elementsPerClockRead);
  return results;
}

/** How long the sliced work of all calls together may take in one turn of the event loop, in milliseconds. */
const turnMs = 5;

/** When sliced work began in this turn of the event loop; `null` if it has not. */
let beganAt: number | null = null;

const waiting: (() => void)[] = [];

/**
 * Returns whether sliced work has used up its time in this turn of the event loop. One clock measures all of it, because
 * loops that run one after the other, each with a clock of its own, would add up to one long turn.
 */
export function turnIsOver(): boolean {
  return performance.now() - beginSlice() >= turnMs;
}

/** Counts what runs next as sliced work. Returns when sliced work began in this turn of the event loop. */
export function beginSlice(): number {
  if (beganAt === null) {
    beganAt = performance.now();
    setImmediate(() => (beganAt = null));
  }
  return beganAt;
}

/** Resolves in a later turn of the event loop. Concurrent calls get one turn each, in the order of the calls. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(give);
  });
}

function give(): void {
  beganAt = null;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(give);
}
