// node shared/resources/assets/update.mjs VERSION: takes the bundle of another version of @scalar/api-reference. npm checks
// what it downloads against the registry's integrity; the bundle is stored as it is served, compressed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const [version = 'latest'] = process.argv.slice(2);
const name = '@scalar/api-reference';
const directory = mkdtempSync(path.join(tmpdir(), 'scalar-'));
try {
  const packed = execFileSync('npm', [
    'pack',
    `${name}@${version}`,
    '--json',
    '--pack-destination',
    directory,
  ]);
  const [{ filename, version: taken, integrity }] = Object.values(JSON.parse(packed));
  execFileSync('tar', ['xzf', path.join(directory, filename), '-C', directory]);
  const script = readFileSync(path.join(directory, 'package/dist/browser/standalone.js'));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
  };
  writeFileSync(new URL('scalar.js.br', import.meta.url), brotliCompressSync(script, { params }));
  const origin = {
    package: name,
    version: taken,
    integrity,
    file: 'dist/browser/standalone.js',
    license: 'MIT',
  };
  writeFileSync(new URL('scalar.json', import.meta.url), `${JSON.stringify(origin, null, 2)}\n`);
} finally {
  rmSync(directory, { recursive: true });
}
