import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Directory of the judges: tools that lint the OpenAPI document or generate clients from it. They have a separate
 * package.json, because nothing else in this repository needs their packages.
 */
const directory = fileURLToPath(new URL('judges/', import.meta.url));
/** The Node.js executable that runs the judges. Some judges need a newer version than Longshore does. */
const node = path.join(directory, 'node_modules/node/bin/node');
const maxBytes = 256 * 1_048_576;

export interface Finding {
  readonly rule: string;
  readonly message: string;
  /** Path of the part of the document that the finding is about. */
  readonly at: string;
}

/** Lints the document in `file` and returns the findings. */
export type Judge = (file: string) => Promise<readonly Finding[]>;

/** Generates a client from the document in `file` into the directory `out`. */
export type Generator = (file: string, out: string) => Promise<unknown>;

/**
 * Installs the judges unless the versions in the lock file are already installed.
 *
 * @throws {Error} if npm fails
 */
export async function installJudges(): Promise<void> {
  const wanted = await readFile(path.join(directory, 'package-lock.json'), 'utf8');
  const stamp = path.join(directory, 'node_modules/.installed');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return;
  process.stderr.write('Installing the judges of the OpenAPI document (once, about 400 MB)\n');
  const options = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  const npm = spawn('npm', options, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(npm, 'close')) as [number | null];
  if (code !== 0) throw new Error('npm could not install the judges');
  await writeFile(stamp, wanted);
}

/** Returns the findings of Redocly’s strict rules. */
export async function redocly(file: string): Promise<readonly Finding[]> {
  const text = await run('@redocly/cli/bin/cli.js', [
    'lint',
    file,
    '--extends=recommended-strict',
    '--format=json',
    '--max-problems=1000',
  ]);
  const { problems } = JSON.parse(text) as {
    problems: readonly { ruleId: string; message: string; location: readonly { pointer?: string }[] }[];
  };
  return problems.map(({ ruleId, message, location }) => ({
    rule: ruleId,
    message,
    at: location[0]?.pointer ?? '',
  }));
}

const scalarScript = `
  import { readFile } from 'node:fs/promises';
  import { validate } from '@scalar/openapi-parser';
  const { errors = [] } = await validate(await readFile(process.argv[1], 'utf8'));
  process.stdout.write(JSON.stringify(errors));`;

/** Returns the findings of @scalar/openapi-parser. */
export async function scalarParser(file: string): Promise<readonly Finding[]> {
  const found = JSON.parse(await execute(['--input-type=module', '--eval', scalarScript, file])) as readonly {
    code?: string;
    message: string;
    path?: readonly string[] | string;
  }[];
  return found.map(({ code = 'invalid', message, path: at = [] }) => ({
    rule: code,
    message,
    at: [at].flat().join('/'),
  }));
}

/** Returns the findings of Spectral’s OpenAPI rules and of the OWASP rules. */
export async function spectral(file: string): Promise<readonly Finding[]> {
  return JSON.parse(await execute([path.join(directory, 'spectral.mjs'), file])) as readonly Finding[];
}

/**
 * The findings of IBM’s rules, a score per category and an `overall` score. Each score is between 0 and 100.
 */
export interface IbmJudgement {
  readonly findings: readonly Finding[];
  readonly score: Readonly<Record<'usability' | 'security' | 'robustness' | 'evolution' | 'overall', number>>;
}

/** Returns the findings of IBM’s rules, and the scores that IBM’s validator calculates from them. */
export async function ibmJudgement(file: string): Promise<IbmJudgement> {
  return JSON.parse(await execute([path.join(directory, 'ibm.mjs'), file])) as IbmJudgement;
}

/** Generators of TypeScript clients, by name. */
export const generators: Readonly<Record<string, Generator>> = {
  'openapi-typescript': (file, out) =>
    run('openapi-typescript/bin/cli.js', [file, `--output=${path.join(out, 'schema.ts')}`]),
  '@hey-api/openapi-ts': (file, out) =>
    run('@hey-api/openapi-ts/bin/run.js', ['--input', file, '--output', out, '--no-log-file']),
  orval: (file, out) =>
    run('orval/dist/bin/orval.mjs', [
      '--input',
      file,
      '--output',
      path.join(out, 'client.ts'),
      '--client',
      'fetch',
    ]),
};

/** Packages of the TypeScript compilers that check the clients. */
const compilers = ['typescript', 'typescript-7'];

/** Generates a client into `out` and returns the errors that TypeScript 5.9 and 7 report in strict mode. */
export async function compiled(generate: Generator, file: string, out: string): Promise<readonly string[]> {
  await mkdir(out, { recursive: true });
  await generate(file, out);
  const files = (await readdir(out, { recursive: true })).filter((name) => name.endsWith('.ts'));
  if (files.length === 0) return ['the generator wrote no TypeScript'];
  const options = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      // Skips declaration files, because checking those of the DOM would take longer than checking a client.
      skipLibCheck: true,
      target: 'es2022',
      module: 'esnext',
      moduleResolution: 'bundler',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
    },
    include: ['**/*.ts'],
  };
  await writeFile(path.join(out, 'tsconfig.json'), JSON.stringify(options));
  const objections: string[] = [];
  for (const compiler of compilers) {
    const text = await run(`${compiler}/bin/tsc`, ['--project', out, '--pretty', 'false']);
    objections.push(...text.split('\n').filter((line) => line !== ''));
  }
  return objections;
}

function run(script: string, args: readonly string[]): Promise<string> {
  return execute([path.join(directory, 'node_modules', script), ...args]);
}

/**
 * Runs Node.js in the judges' directory and resolves to the standard output. Exit codes 1 and 2 are not failures if
 * there is output, because judges use them to report findings.
 */
function execute(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const environment = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const options = { cwd: directory, env: environment, maxBuffer: maxBytes };
    execFile(node, args, options, (error, stdout, stderr) => {
      if (error === null || (stdout !== '' && typeof error.code === 'number' && error.code <= 2))
        resolve(stdout);
      else reject(new Error(`${path.basename(args[0] ?? '')}: ${stderr || stdout || error.message}`));
    });
  });
}
