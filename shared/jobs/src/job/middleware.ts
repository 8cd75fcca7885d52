/** Wraps an operation: may read or change the context, calls `next` at most once and returns its result, or throws. */
export type Middleware<Context, Result> = (context: Context, next: () => Promise<Result>) => Promise<Result>;

/** Composes middleware around `core`, the first outermost, as Koa does. Without middleware, returns `core` itself. */
export function compose<Context, Result>(
  middleware: readonly Middleware<Context, Result>[],
  core: (context: Context) => Promise<Result>,
): (context: Context) => Promise<Result> {
  return middleware.reduceRight<(context: Context) => Promise<Result>>(
    (inner, around) => async (context) => {
      let called = false;
      return around(context, async () => {
        if (called) throw new Error('Middleware called next() twice');
        called = true;
        return inner(context);
      });
    },
    core,
  );
}
