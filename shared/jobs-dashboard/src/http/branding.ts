import { readFileSync } from 'node:fs';
import path from 'node:path';
import { accentOf } from './accent.js';

/** The logo and accent colour of an installation. */
export interface Branding {
  /** The path of an SVG, PNG, WebP or JPEG file of at most 100 kB. Replaces the Longshore logo. */
  readonly logo?: string | undefined;
  /** The colour of links and buttons, as a hex colour such as `#8a1c7c`. */
  readonly accent?: string | undefined;
}

/** A logo file to serve. `name` is `logo` plus the extension of the configured file, such as `logo.svg`. */
export interface Logo {
  readonly name: string;
  readonly content: Buffer;
}

const MAX_LOGO_BYTES = 100_000;

/** CSS custom properties, named without the leading `--`, with the colours of the surfaces on which links appear. */
const backgrounds = ['paper', 'panel', 'sunk', 'calm', 'alarm'];

/** @throws {TypeError} if the file cannot be read, is too large, or does not have the extension of a supported type */
export function readLogo(file: string): Logo {
  const extension = path.extname(file).toLowerCase();
  if (!/^\.(svg|png|webp|jpe?g)$/.test(extension))
    throw new TypeError(`The logo must be an SVG, PNG, WebP or JPEG file: ${file}`);
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch (cause) {
    throw new TypeError(`The logo cannot be read: ${file}`, { cause });
  }
  if (content.length > MAX_LOGO_BYTES)
    throw new TypeError(
      `The logo ${file} has ${content.length} bytes; at most ${MAX_LOGO_BYTES} are allowed`,
    );
  return { name: `logo${extension}`, content };
}

/**
 * Returns the CSS rules that set the accent colour.
 *
 * @param styles the style sheet; must define each background for the light scheme first, then for the dark one
 * @throws {TypeError} under the same conditions as {@link accentOf}
 */
export function accentStyles(accent: string, styles: string): string {
  const found = backgrounds.map((name) =>
    Array.from(styles.matchAll(new RegExp(`--${name}:\\s*(#[\\da-f]+)`, 'g')), ([, colour = '']) => colour),
  );
  const light = found.flatMap(([colour = []]) => colour);
  const dark = found.flatMap(([, colour = []]) => colour);
  const colours = accentOf(accent, { light, dark });
  return `:root{--accent:${colours.light}}@media(prefers-color-scheme:dark){:root{--accent:${colours.dark}}}`;
}
