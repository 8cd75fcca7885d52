/** `node dev/dist/update-renderer.js VERSION`: replaces the renderer of the reference by another version of @scalar/api-reference. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

interface Packed {
  readonly filename: string;
  readonly version: string;
  readonly integrity: string;
}

const [wanted = 'latest'] = process.argv.slice(2);
const name = '@scalar/api-reference';
const file = 'dist/browser/standalone.js';
const assets = new URL('../../shared/resources/assets/', import.meta.url);

const directory = mkdtempSync(path.join(tmpdir(), 'scalar-'));
try {
  // npm checks what it downloads against the integrity that the registry states.
  const options = ['pack', `${name}@${wanted}`, '--json', '--pack-destination', directory];
  const [packed] = Object.values(JSON.parse(execFileSync('npm', options, { encoding: 'utf8' })) as Packed[]);
  if (packed === undefined) throw new Error(`npm packed no ${name}`);
  const { filename, version, integrity } = packed;
  execFileSync('tar', ['xzf', path.join(directory, filename), '-C', directory]);
  const script = readFileSync(path.join(directory, 'package', file));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: 24,
    [constants.BROTLI_PARAM_SIZE_HINT]: script.length,
  };
  writeFileSync(new URL('scalar.js.br', assets), brotliCompressSync(script, { params }));
  const origin = { package: name, version, integrity, file, license: 'MIT' };
  writeFileSync(new URL('scalar.json', assets), `${JSON.stringify(origin, null, 2)}\n`);
} finally {
  rmSync(directory, { recursive: true });
}
