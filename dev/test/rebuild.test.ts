import { mkdir, mkdtemp, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@longshore/test-support';
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

  /**
   * Watches until `use` ends. `use` receives a function that calls `save` until a report matches `wanted`, and resolves
   * to that report.
   */
  const watching = async (
    use: (reportAfter: (save: () => Promise<void>, wanted: RegExp) => Promise<string>) => Promise<void>,
  ): Promise<void> => {
    let reports: string[] = [];
    const report = (text: string): void => void reports.push(text);
    const stop = rebuildOnChange(root, ['services/one'], async (changed) => report(changed), report);
    const reportAfter = async (save: () => Promise<void>, wanted: RegExp): Promise<string> => {
      reports = [];
      await save();
      await eventually(
        () => reports,
        (all) => all.some((text) => wanted.test(text)),
        { everyMs: 100 },
      );
      return reports.find((text) => wanted.test(text)) ?? '';
    };
    try {
      // Saves the file repeatedly until an event arrives, because nothing reports when the watcher has started.
      let saved = 1;
      await eventually(
        async () => {
          saved += 1;
          await write('src/index.ts', `export const answer: number = ${saved};\n`);
          return reports;
        },
        ({ length }) => length > 0,
        { everyMs: 200 },
      );
      await use(reportAfter);
    } finally {
      await stop();
    }
  };

  it('compiles a changed source, and reports any errors', () =>
    watching(async (reportAfter) => {
      const saved = await reportAfter(
        () => write('src/index.ts', 'export const answer: number = 0;\n'),
        /index\.ts$/,
      );
      expect(saved).to.equal('services/one/src/index.ts');
      expect(await readFile(path.join(root, 'services/one/dist/index.js'), 'utf8')).to.include('answer');
      await reportAfter(() => write('src/index.ts', "export const answer: number = 'text';\n"), /TS2322/);
    }));

  it('compiles a source that is older than the last build, as one saved during it is', () =>
    watching(async (reportAfter) => {
      const moved = path.join(root, 'index.ts');
      await writeFile(moved, "export const answer: number = 'text';\n");
      await utimes(moved, new Date(0), new Date(0));
      await reportAfter(() => rename(moved, path.join(root, 'services/one/src/index.ts')), /TS2322/);
    }));
});
