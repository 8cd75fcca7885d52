import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { rebuildOnChange } from '../src/rebuild.js';

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const config = JSON.stringify({
  compilerOptions: { composite: true, rootDir: 'src', outDir: 'dist', types: [] },
  include: ['src'],
});

describe('rebuildOnChange', () => {
  let root: string;
  const write = (file: string, text: string): Promise<void> =>
    writeFile(path.join(root, 'services/one', file), text);

  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'longshore-rebuild-'));
    await symlink(modules, path.join(root, 'node_modules'));
    await mkdir(path.join(root, 'services/one/src'), { recursive: true });
    await mkdir(path.join(root, 'shared'));
    await write('tsconfig.json', config);
    await write('src/index.ts', 'export const answer: number = 1;\n');
  });
  after(() => rm(root, { recursive: true, force: true }));

  it('compiles a changed source, and reports any errors', async () => {
    const reports: string[] = [];
    let wake = (): void => undefined;
    const report = (text: string): void => {
      reports.push(text);
      wake();
    };
    const stop = rebuildOnChange(root, ['services/one'], async (changed) => report(changed), report);
    try {
      // Saves the file repeatedly until an event arrives, because nothing reports when the watcher has started.
      for (let saved = 2; reports.length === 0; saved += 1) {
        await write('src/index.ts', `export const answer: number = ${saved};\n`);
        await Promise.race([
          new Promise<void>((resolve) => (wake = resolve)),
          new Promise((resolve) => setTimeout(resolve, 200)),
        ]);
      }
      expect(reports[0]).to.equal('services/one/src/index.ts');
      expect(await readFile(path.join(root, 'services/one/dist/index.js'), 'utf8')).to.include('answer');
      const failed = new Promise<void>((resolve) => {
        wake = () => reports.at(-1)?.includes('TS2322') === true && resolve();
      });
      await write('src/index.ts', "export const answer: number = 'text';\n");
      await failed;
    } finally {
      await stop();
    }
  });
});
