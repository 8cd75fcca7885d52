import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { patientServer, patientStorage } from '@longshore/test-support';
import { house } from '../house/house.js';
import { runsByItself, type Snippet, snippets } from './snippet.js';

const run = promisify(execFile);

/** A complete program on a page of the documentation, with its documented output. */
export interface DocsProgram {
  /** Location of the program's block, such as `docs/jobs/retries.md:12`. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
  readonly output: string;
}

/**
 * Returns the programs on all pages: TypeScript blocks followed by their output, and excerpts with a frame
 * (see {@link Snippet}).
 */
export async function docsPrograms(): Promise<DocsProgram[]> {
  const programs: DocsProgram[] = [];
  for (const snippet of (await snippets()).filter(runsByItself)) {
    const { page, line, language, output = '' } = snippet;
    programs.push({ place: `${page}:${line}`, language, text: programOf(snippet), output });
  }
  return programs;
}

/** Returns the program of a snippet. An excerpt replaces the line `…` of its frame. */
function programOf({ frame, text }: Snippet): string {
  return frame === undefined ? text : frame.replace(/^…\n/m, () => text);
}

/**
 * Returns a program whose storages and servers have the time limits of the tests, unless it sets its own. It is otherwise
 * unchanged. With the defaults, a machine that is busy for some seconds would change its output.
 */
function patient(text: string): string {
  const limits = { PostgresStorage: patientStorage, JobServer: patientServer };
  return Object.entries(limits).reduce(
    (program, [name, options]) =>
      program.replaceAll(`new ${name}({`, `new ${name}({ ...${JSON.stringify(options)},`),
    text,
  );
}

/**
 * Type-checks and compiles programs together, in a directory inside the repository, where they can import the packages
 * as a user's program does. JavaScript programs are only copied.
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
      programs.map(({ place, language, text }) =>
        writeFile(path.join(directory, `${fileName(place)}.${language}`), patient(text)),
      ),
    );
    const extendedFrom = path.join(house, 'tsconfig.base.json');
    const compilerOptions = {
      composite: false,
      declaration: false,
      declarationMap: false,
      sourceMap: false,
      experimentalDecorators: true, // for Nest
      noUnusedParameters: false, // examples may list parameters only to show them
    };
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
   * Runs a program and resolves to its standard output.
   *
   * @throws {Error} if the program fails or takes more than an hour
   */
  async run({ place }: DocsProgram, databaseUrl: string): Promise<string> {
    const program = path.join(this.#directory, `${fileName(place)}.js`);
    // Passes few variables. NODE_OPTIONS could make the program load the packages' sources instead of the compiled
    // files, and NODE_V8_COVERAGE would measure coverage.
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: databaseUrl };
    const { stdout } = await run(process.execPath, [program], { cwd: house, env, timeout: 3_600_000 });
    return stdout;
  }

  async remove(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }
}

function fileName(place: string): string {
  return place.replaceAll(/[/.:]/g, '-');
}
