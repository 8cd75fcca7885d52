import type { Context } from 'koa';

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/json' } as const;

export type DownloadFormat = keyof typeof types;

/** Makes browsers save the response as a file instead of displaying it. Also sets the content type. */
export function attach(ctx: Context, filename: string, format: DownloadFormat): void {
  ctx.type = types[format];
  ctx.set('Content-Disposition', `attachment; filename="${filename}"`);
}
