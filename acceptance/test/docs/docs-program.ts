import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

const run = promisify(execFile);

const directory = 'docs/jobs';

/** A complete program on a page of the documentation, with its documented output. */
export interface DocsProgram {
  /** The location of its block: `docs/jobs/retries.md:12`. */
  readonly place: string;
  readonly text: string;
  readonly output: string;
}

const block = /^```ts\n(?<text>.*?)^```\n\s*^```text\n(?<output>.*?)^```$/gms;

/** Returns every `ts` block that is followed by a `text` block. */
export async function docsPrograms(): Promise<DocsProgram[]> {
  const files = (await readdir(path.join(house, directory))).filter((file) => file.endsWith('.md'));
  const pages = ['docs/testing.md', ...files.toSorted().map((file) => `${directory}/${file}`)];
  const found = await Promise.all(
    pages.map(async (place) => {
      const page = await readFile(path.join(house, place), 'utf8');
      return [...page.matchAll(block)].map(({ index, groups }) => {
        const line = page.slice(0, index).split('\n').length;
        return {
          place: `${place}:${line}`,
          text: groups?.['text'] ?? '',
          output: groups?.['output'] ?? '',
        };
      });
    }),
  );
  return found.flat();
}

/**
 * Type-checks and compiles programs together, inside the repository so that they find its packages as a user's would.
 */
export class CompiledPrograms {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws {Error} with the compiler's messages if a program does not type-check */
  static async compile(programs: readonly DocsProgram[]): Promise<CompiledPrograms> {
    const data = path.join(house, '.data');
    await mkdir(data, { recursive: true });
    const directory = await mkdtemp(path.join(data, 'docs-'));
    await Promise.all(
      programs.map(({ place, text }) => writeFile(path.join(directory, `${fileName(place)}.ts`), text)),
    );
    const extendedFrom = path.join(house, 'tsconfig.base.json');
    const compilerOptions = { composite: false, declaration: false, declarationMap: false, sourceMap: false };
    const config = JSON.stringify({ extends: extendedFrom, compilerOptions, include: ['*.ts'] });
    await writeFile(path.join(directory, 'tsconfig.json'), config);
    const compiled = new CompiledPrograms(directory);
    await run('npx', ['tsc', '-p', directory], { cwd: house }).catch(async (error: unknown) => {
      await compiled.remove();
      throw new Error((error as { stdout: string }).stdout, { cause: error });
    });
    return compiled;
  }

  /**
   * Resolves to the program's output.
   *
   * @throws {Error} if it fails or takes longer than 60 s
   */
  async run({ place }: DocsProgram, databaseUrl: string): Promise<string> {
    const program = path.join(this.#directory, `${fileName(place)}.js`);
    // Uses the compiled packages, as a user does; not measured for coverage.
    const env = { PATH: process.env['PATH'], DATABASE_URL: databaseUrl };
    const { stdout } = await run(process.execPath, [program], { cwd: house, env, timeout: 60_000 });
    return stdout;
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function fileName(place: string): string {
  return place.replaceAll(/[/.:]/g, '-');
}
