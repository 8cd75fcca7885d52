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

/** How long the sliced work of all calls together may take in one turn of the event loop, in milliseconds. */
const turnMs = 5;

/** When sliced work began in this turn of the event loop; `null` if it has not. */
let beganAt: number | null = null;

const waiting: (() => void)[] = [];

/**
 * Returns whether sliced work has used up its time in this turn of the event loop. One clock measures all of it, because
 * loops that run one after the other, each with a clock of its own, would add up to one long turn.
 */
function turnIsOver(): boolean {
  if (beganAt === null) {
    beganAt = performance.now();
    setImmediate(() => (beganAt = null));
  }
  return performance.now() - beganAt >= turnMs;
}

/** Resolves in a later turn of the event loop. Concurrent calls get one turn each, in the order of the calls. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(give);
  });
}

function give(): void {
  beganAt = null;
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(give);
}
