import { expect } from 'chai';
import path from 'node:path';
import { readSource, sourceFiles } from './house.js';

interface Project {
  readonly include?: readonly string[];
  readonly references?: readonly { readonly path: string }[];
}

/** Matches the specifier of an import of one of our packages, and captures the package's name. */
const ours = /(?:from|import)\s*\(?'(@longshore\/[a-z-]+|longshore)[/']/g;

const projectIn = async (folder: string): Promise<Project> =>
  JSON.parse(await readSource(path.join(folder, 'tsconfig.json'))) as Project;

describe('The projects of TypeScript', () => {
  // Without the reference, `tsc -b` may check the importing project first, and then also gives stale or missing types to
  // the projects that come later. A second build passes, so this is noticed only on a fresh machine.
  it('refer to the projects of the packages that their files import', async () => {
    const files = await sourceFiles();
    const folders = new Map<string, string>();
    for (const file of files.filter((each) => /^(?:shared|services)\/[^/]+\/package\.json$/.test(each)))
      folders.set((JSON.parse(await readSource(file)) as { name: string }).name, path.dirname(file));
    const { references: listed = [] } = await projectIn('.');
    const roots: { readonly root: string; readonly project: string; readonly known: ReadonlySet<string> }[] =
      [];
    for (const { path: project } of listed) {
      const { include = ['.'], references = [] } = await projectIn(project);
      const known = new Set(references.map((reference) => path.join(project, reference.path)));
      for (const part of include) roots.push({ root: path.join(project, part), project, known });
    }
    roots.sort((one, other) => other.root.length - one.root.length);
    const missing = new Set<string>();
    for (const file of files.filter((each) => each.endsWith('.ts'))) {
      const found = roots.find(({ root }) => file.startsWith(`${root}/`));
      if (found === undefined) continue;
      for (const [, name = ''] of (await readSource(file)).matchAll(ours)) {
        const folder = folders.get(name);
        if (folder !== undefined && folder !== found.project && !found.known.has(folder))
          missing.add(`${found.project} imports ${name}`);
      }
    }
    expect([...missing].toSorted()).to.deep.equal([]);
  });
});
