/**
 * Implements `make pack`: builds the tarballs of all published packages. Usage: `node dev/dist/pack/main.js DIRECTORY`.
 */
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { packAll } from './pack-all.js';

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('Give the directory for the tarballs.');
const out = path.resolve(directory);
await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const file of await packAll(out)) process.stdout.write(`${path.relative('.', file)}\n`);
