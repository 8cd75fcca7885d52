import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The logo and accent colour of an installation. */
export interface Branding {
  /** The path of an SVG, PNG, WebP or JPEG file of at most 100 kB. Replaces the Longshore logo. */
  readonly logo?: string | undefined;
  /** The colour of links and buttons, as a hex colour such as `#8a1c7c`. */
  readonly accent?: string | undefined;
}

/** A logo file to serve. `name` is `logo` plus the extension of the configured file, such as `logo.svg`. */
interface Logo {
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
  const colourPairs = backgrounds.map((name) =>
    Array.from(styles.matchAll(new RegExp(`--${name}:\\s*(#[\\da-f]+)`, 'g')), ([, colour = '']) => colour),
  );
  const light = colourPairs.flatMap(([colour = []]) => colour);
  const dark = colourPairs.flatMap(([, colour = []]) => colour);
  const colours = accentOf(accent, { light, dark });
  return `:root{--accent:${colours.light}}@media(prefers-color-scheme:dark){:root{--accent:${colours.dark}}}`;
}

/** Minimum contrast between text and its background (WCAG 2.2, success criterion 1.4.3). */
const MIN_CONTRAST = 4.5;

/** Number of steps for lightening a colour to white. */
const STEPS = 40;

type Colour = readonly [red: number, green: number, blue: number];

/** Hex colours of the surfaces on which links appear. */
interface Backgrounds {
  readonly light: readonly string[];
  readonly dark: readonly string[];
}

/** Hex colours of links and buttons, by colour scheme. */
interface Accent {
  readonly light: string;
  readonly dark: string;
}

/**
 * Returns the accent colours for a configured colour. The light scheme uses the colour itself. For the dark scheme, the
 * colour is lightened until it has enough contrast.
 *
 * @param colour a hex colour such as `#8a1c7c`
 * @throws {TypeError} if the colour is not a hex colour, or is too light to be readable on a light background
 */
export function accentOf(colour: string, backgrounds: Backgrounds): Accent {
  const configured = parse(colour);
  const ratio = minContrast(configured, backgrounds.light);
  if (ratio < MIN_CONTRAST) {
    throw new TypeError(
      `The accent colour ${colour} has a contrast of ${ratio.toFixed(1)}:1 with light backgrounds; choose a darker one, with at least ${MIN_CONTRAST}:1`,
    );
  }
  for (let step = 0; step < STEPS; step += 1) {
    const lighter = configured.map((part) =>
      Math.round(part + ((255 - part) * step) / STEPS),
    ) as unknown as Colour;
    if (minContrast(lighter, backgrounds.dark) >= MIN_CONTRAST)
      return { light: format(configured), dark: format(lighter) };
  }
  return { light: format(configured), dark: '#ffffff' };
}

/** Returns the contrast ratio of two hex colours, from 1 to 21, as defined by WCAG 2.2. */
export function contrastOf(one: string, other: string): number {
  return contrast(parse(one), parse(other));
}

function minContrast(colour: Colour, backgrounds: readonly string[]): number {
  return Math.min(...backgrounds.map((background) => contrast(colour, parse(background))));
}

function contrast(one: Colour, other: Colour): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance, from 0 to 1, as defined by WCAG 2.2. */
function luminance([red, green, blue]: Colour): number {
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

function linear(part: number): number {
  const share = part / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function parse(colour: string): Colour {
  const digits = /^#([\da-f]{3}|[\da-f]{6})$/i.exec(colour)?.[1];
  if (digits === undefined) throw new TypeError(`Not a colour such as #8a1c7c: ${colour}`);
  const whole = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits;
  return [0, 2, 4].map((at) => Number.parseInt(whole.slice(at, at + 2), 16)) as unknown as Colour;
}

function format(colour: Colour): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
