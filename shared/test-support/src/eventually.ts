import { inspect } from 'node:util';

export interface EventuallyOptions {
  /**
   * Number of checks without a change after which to give up; 6,000 by default, which takes at least two minutes. Checks
   * are counted instead of milliseconds, because a busy machine makes fewer of them in the same time. Whenever a check
   * sees something new, the count starts again.
   */
  readonly checks?: number;
  /**
   * Longest pause between two checks, in milliseconds; 20 by default. The first pause is at most 1 ms, and each pause
   * is twice as long as the one before. Frequent checks would slow down the work that the test waits for.
   */
  readonly everyMs?: number;
}

type Truthy<T> = Exclude<T, false | null | undefined | 0 | ''>;

/**
 * Waits for a condition: calls `look` until it returns something that `holds` accepts, without throwing, and returns it.
 * By default, any truthy value is accepted. Tests wait with this function only, and never for a time to pass.
 *
 * @throws {Error} if nothing has changed for too many checks; the message contains what was seen last
 */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: Awaited<T>) => boolean,
  options?: EventuallyOptions,
): Promise<Awaited<T>>;
export async function eventually<T>(
  look: () => T | Promise<T>,
  options?: EventuallyOptions,
): Promise<Truthy<Awaited<T>>>;
export async function eventually<T>(
  look: () => T | Promise<T>,
  second?: ((seen: Awaited<T>) => boolean) | EventuallyOptions,
  third?: EventuallyOptions,
): Promise<Awaited<T>> {
  const holds = typeof second === 'function' ? second : Boolean;
  const { checks = 6_000, everyMs = 20 } = (typeof second === 'function' ? third : second) ?? {};
  let last = '';
  let left = checks;
  for (let pauseMs = Math.min(1, everyMs); ; pauseMs = Math.min(2 * pauseMs, everyMs)) {
    let seen: string;
    let failure: unknown;
    try {
      const value = await look();
      if (holds(value)) return value;
      seen = inspect(value, { depth: 4, maxArrayLength: 20, maxStringLength: 500 });
    } catch (error) {
      failure = error;
      seen = String(error);
    }
    left = seen === last ? left - 1 : checks;
    last = seen;
    if (left <= 0) throw failure instanceof Error ? failure : notHeld(look, seen, checks);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

function notHeld(look: () => unknown, seen: string, checks: number): Error {
  return new Error(
    `The condition did not hold in ${checks} checks. Seen last: ${seen}\nCondition: ${String(look)}`,
  );
}
