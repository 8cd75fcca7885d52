import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Context } from 'koa';
import { accentStyles, type Branding, readLogo } from './branding.js';

const folder = new URL('../../assets/', import.meta.url);

const contentTypes = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  webp: 'image/webp',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
} as const;

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

/**
 * The style sheet, scripts, icon and logo, read once at start-up. Their paths contain a hash of all files, so browsers
 * can cache them forever. Scripts can import each other by relative paths, because they share the hash.
 */
export class Assets {
  /** The hash of the names and contents of all files. */
  readonly version: string;
  /** The logo's file name in URLs; `null` if no logo is configured. */
  readonly logo: string | null;
  readonly #files: ReadonlyMap<string, Asset>;

  /** @throws {TypeError} if the logo or the accent colour cannot be used */
  constructor({ logo, accent }: Branding = {}) {
    const logoFile = logo === undefined ? null : readLogo(logo);
    this.logo = logoFile?.name ?? null;
    const styles = styleSheet();
    const sources = new Map<string, Buffer>([
      ['dashboard.css', Buffer.from(accent === undefined ? styles : styles + accentStyles(accent, styles))],
      ['icon.svg', readFileSync(new URL('icon.svg', folder))],
      ...(logoFile === null ? [] : [[logoFile.name, logoFile.content] satisfies [string, Buffer]]),
      ...namesIn('scripts/').map((name): [string, Buffer] => [name, script(name)]),
    ]);
    const hash = createHash('sha256');
    for (const [name, content] of sources) hash.update(name).update(content);
    this.version = hash.digest('hex').slice(0, 16);
    this.#files = new Map(Array.from(sources, ([name, content]) => [name, asset(name, content)]));
  }

  /** Returns a file's path inside the dashboard, without a leading slash. */
  path(name: string): string {
    return `assets/${this.version}/${name}`;
  }

  /** Answers a GET or HEAD request for one of the files. Returns whether the request was answered. */
  serve(ctx: Context, inside: string): boolean {
    const [, version, name = ''] = /^\/assets\/([^/]+)\/([^/]+)$/i.exec(inside) ?? [];
    const file = this.#files.get(name);
    if (version !== this.version || file === undefined) return false;
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return false;
    ctx.set({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
    ctx.type = file.type;
    if (ctx.acceptsEncodings('gzip', 'identity') === 'gzip') {
      ctx.set('Content-Encoding', 'gzip');
      ctx.body = file.gzip;
    } else ctx.body = file.plain;
    return true;
  }
}

function namesIn(subfolder: string): string[] {
  return readdirSync(new URL(subfolder, folder)).toSorted();
}

/** Concatenates the style sheets in alphabetical order and minifies the result. The order matters for the cascade. */
function styleSheet(): string {
  const sheets = namesIn('styles/').map((name) => readFileSync(new URL(`styles/${name}`, folder), 'utf8'));
  return sheets
    .join('')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([{};,>/~]| \+ ) ?/g, (_all, mark: string) => mark.trim())
    .replaceAll(/::(?=before|after)/g, ':')
    .replaceAll('@media (', '@media(')
    .replaceAll(/='([a-z-]+)'/g, '=$1')
    .replaceAll(/\((min|max)-width: /g, (_all, bound) => `(width${bound === 'min' ? '>=' : '<='}`)
    .replaceAll(': ', ':')
    .replaceAll(/(?<![\d.])0(?=\.\d)/g, '')
    .replaceAll(';}', '}');
}

/** Reads a script and removes comments and indentation. Comments that share a line with code are kept. */
function script(name: string): Buffer {
  const text = readFileSync(new URL(`scripts/${name}`, folder), 'utf8');
  return Buffer.from(text.replaceAll(/^ *(?:\/\*\*(?:(?!\*\/)[^])*\*\/|\/\/.*)\n|^ +/gm, ''));
}

function asset(name: string, plain: Buffer): Asset {
  const extension = name.slice(name.lastIndexOf('.') + 1) as keyof typeof contentTypes;
  return { type: contentTypes[extension], plain, gzip: gzipSync(plain, { level: 9 }) };
}
