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

/** @throws {TypeError} unless the value is a list of functions or `undefined` */
export function checkMiddleware(where: string, middleware: readonly unknown[] | undefined): void {
  if (middleware === undefined) return;
  const index = Array.isArray(middleware)
    ? middleware.findIndex((element) => typeof element !== 'function')
    : 0;
  if (index < 0) return;
  const got = Array.isArray(middleware) ? `${shown(middleware[index])} at index ${index}` : shown(middleware);
  throw new TypeError(`${where}: middleware must be a list of functions, not ${got}`);
}
