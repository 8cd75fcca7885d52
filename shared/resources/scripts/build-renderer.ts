// node build-renderer.ts: downloads the package pinned in assets/scalar.json, without its dependencies, and writes its
// browser bundle, compressed with Brotli, to assets/scalar.js.br. Imports only Node.js modules, because image builds
// run this script before they install packages.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

/** A file in an exact version of an npm package. */
export interface Pin {
  readonly package: string;
  readonly version: string;
  /** The SHA-512 of the package's archive, in the format of lock files: `sha512-<base64>`. */
  readonly integrity: string;
  /** The path in the package. */
  readonly file: string;
}

const maxBytes = 64 * 1_048_576;

/**
 * Returns the pinned file, from npm's cache or the configured registry.
 * @throws {Error} if npm cannot download the package, or its archive does not have the pinned integrity
 */
export function pinnedFile({ package: name, version, integrity, file }: Pin): Buffer {
  const directory = mkdtempSync(path.join(tmpdir(), 'renderer-'));
  try {
    const options = ['--prefer-offline', '--ignore-scripts', '--loglevel=error'];
    execFileSync('npm', ['pack', `${name}@${version}`, ...options, '--pack-destination', directory], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const archive = path.join(directory, readdirSync(directory)[0] ?? '');
    const found = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    if (found !== integrity)
      throw new Error(
        `${name}@${version} has the integrity ${found}, but scalar.json pins ${integrity}. ` +
          `After a change of the version, pin what "npm view ${name}@${version} dist.integrity" shows. ` +
          'Otherwise the download is not the file that was reviewed: do not use it.',
      );
    return execFileSync('tar', ['-xzOf', archive, `package/${file}`], { maxBuffer: maxBytes });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function build(): void {
  const assets = fileURLToPath(new URL('../assets/', import.meta.url));
  const pin = JSON.parse(readFileSync(path.join(assets, 'scalar.json'), 'utf8')) as Pin;
  process.stderr.write(
    `Building the renderer of the API reference from ${pin.package}@${pin.version} (once)\n`,
  );
  const script = pinnedFile(pin);
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 9, // 11 saves another tenth of the size, but takes 14 times as long
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
  };
  // Renames the file only when it is complete, so that an interrupted build leaves no partial file with the final name.
  const target = path.join(assets, 'scalar.js.br');
  const partial = `${target}.${process.pid}`;
  writeFileSync(partial, brotliCompressSync(script, { params }));
  renameSync(partial, target);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
