import type { Check } from './options.js';
import { shown } from './shown.js';

/**
 * A function wrapped around an operation. It can read or change the context. It calls `next` at most once to run the
 * rest of the operation. It can reject the operation by throwing.
 */
export type Middleware<Context, Result> = (context: Context, next: () => Promise<Result>) => Promise<Result>;

/**
 * Returns a function that runs the middleware around `core`. The first middleware is the outermost, as in Koa. If a
 * middleware calls `next` a second time, that call rejects. Without middleware, returns `core` itself.
 */
export function compose<Context, Result>(
  middleware: readonly Middleware<Context, Result>[],
  core: (context: Context) => Promise<Result>,
): (context: Context) => Promise<Result> {
  return middleware.reduceRight<(context: Context) => Promise<Result>>(
    (inner, layer) => async (context) => {
      let called = false;
      return layer(context, async () => {
        if (called) throw new Error('Middleware called next() twice');
        called = true;
        return inner(context);
      });
    },
    core,
  );
}

/** Accepts a list of functions. */
export const isMiddlewareList: Check = (what, value) => {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : null;
  const index = list === null ? 0 : list.findIndex((element) => typeof element !== 'function');
  if (index < 0) return;
  const got = list === null ? shown(value) : `${shown(list[index])} at index ${index}`;
  throw new TypeError(`${what} must be a list of functions, not ${got}`);
};
