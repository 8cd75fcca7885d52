/** Stands around something: looks at or changes its context, calls `next` once and gives what that gave, or throws. */
export type Middleware<Context, Result> = (context: Context, next: () => Promise<Result>) => Promise<Result>;

/** Puts middleware around `core`, the first outermost, as Koa does. Without any it is `core` itself. */
export function compose<Context, Result>(
  middleware: readonly Middleware<Context, Result>[],
  core: (context: Context) => Promise<Result>,
): (context: Context) => Promise<Result> {
  return middleware.reduceRight<(context: Context) => Promise<Result>>(
    (inner, around) => async (context) => {
      let called = false;
      return around(context, async () => {
        if (called) throw new Error('A middleware called next twice');
        called = true;
        return inner(context);
      });
    },
    core,
  );
}
