import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const template = fileURLToPath(new URL('../template/', import.meta.url));

/**
 * Maps the names of template files to their names in the application. The template avoids the final names, because npm
 * treats some of them specially when it publishes a package.
 */
const renamed: Readonly<Record<string, string>> = {
  _gitignore: '.gitignore',
  _dockerignore: '.dockerignore',
  _github: '.github',
  '_env.example': '.env.example',
  '_package.json': 'package.json',
};

/**
 * Writes the files of a new application, including an `.env` file with generated secrets.
 *
 * @param directory created if missing; its last segment becomes the name of the application
 * @throws {Error} if the directory contains anything besides `.git`, or its name is not a valid package name
 */
export async function createApplication(directory: string): Promise<void> {
  const target = path.resolve(directory);
  const name = path.basename(target);
  if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name))
    throw new Error(`"${name}" is not a valid package name: use lower-case letters, digits and dashes`);
  await mkdir(target, { recursive: true });
  const present = (await readdir(target)).filter((file) => file !== '.git');
  if (present.length > 0) throw new Error(`${directory} is not empty`);
  const values: Readonly<Record<string, string>> = { name, version: await versionOfLongshore() };
  const fill = (text: string): string =>
    text.replaceAll(/\{\{(\w+)\}\}/g, (_, key: string) => values[key] ?? '');
  const entries = await readdir(template, { recursive: true, withFileTypes: true });
  for (const entry of entries.filter((each) => each.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    const parts = path.relative(template, file).split(path.sep);
    const place = path.join(target, ...parts.map((part) => renamed[part] ?? part));
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, fill(await readFile(file, 'utf8')));
  }
  const example = await readFile(path.join(target, '.env.example'), 'utf8');
  const env = example.replaceAll('generate-me', () => randomBytes(24).toString('hex'));
  await writeFile(path.join(target, '.env'), env, { mode: 0o600 });
}

/** Returns the version of this package, which is that of all packages of Longshore. */
export async function versionOfLongshore(): Promise<string> {
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
