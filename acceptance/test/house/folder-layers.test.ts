import path from 'node:path';
import { expect } from 'chai';
import { readSource, sourceFiles } from './house.js';

/** Maps each folder of a package to the folders that its files import from. */
type Folders = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the top-level folder of a file below `src`; `.` if it lies in `src` itself. */
function folderOf(file: string): string {
  const [, below = ''] = file.split('/src/');
  return below.includes('/') ? (below.split('/')[0] ?? '') : '.';
}

function foldersOf(files: ReadonlyMap<string, string>): Folders {
  const folders = new Map<string, Set<string>>();
  for (const [file, text] of files)
    for (const [, imported = ''] of text.matchAll(/\bfrom '(\.[^']+)'/g)) {
      const [from, to] = [folderOf(file), folderOf(path.posix.join(path.posix.dirname(file), imported))];
      if (from !== to) folders.set(from, (folders.get(from) ?? new Set()).add(to));
    }
  return folders;
}

/** Returns the folders that depend on themselves, directly or through others. */
function onCycles(folders: Folders): string[] {
  const reachedFrom = (start: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    const visit = (folder: string): void => {
      for (const next of folders.get(folder) ?? [])
        if (!reached.has(next)) {
          reached.add(next);
          visit(next);
        }
    };
    visit(start);
    return reached;
  };
  return [...folders.keys()].filter((folder) => reachedFrom(folder).has(folder)).toSorted();
}

describe('The folders of a package', () => {
  it('depend in one direction', async () => {
    const sources = new Map<string, Map<string, string>>();
    for (const file of await sourceFiles()) {
      const [name = ''] = /^(?:shared|services)\/[\w-]+(?=\/src\/.*\.ts$)/.exec(file) ?? [];
      if (name === '') continue;
      sources.set(name, (sources.get(name) ?? new Map<string, string>()).set(file, await readSource(file)));
    }
    const cycles = Array.from(sources, ([name, files]) => [name, onCycles(foldersOf(files))] as const);
    expect(cycles.length).to.be.above(12);
    expect(cycles.filter(([, folders]) => folders.length > 0)).to.deep.equal([]);
  });

  it('are found if they do not', () => {
    const files = {
      'shared/x/src/read/list.ts': "import { pool } from '../connection/pool.js';",
      'shared/x/src/connection/pool.ts': "export type { Claim } from '../claim/claim.js';",
      'shared/x/src/claim/claim.ts': "import type { List } from '../read/list.js';",
      'shared/x/src/index.ts': "export * from './read/list.js';",
    };
    expect(onCycles(foldersOf(new Map(Object.entries(files))))).to.deep.equal([
      'claim',
      'connection',
      'read',
    ]);
  });
});
