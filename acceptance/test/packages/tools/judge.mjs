// Prints what publint and attw find in tarballs, as JSON: an object with the findings by tarball path.
import { readFile } from 'node:fs/promises';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** Module resolution modes that Longshore's packages do not support. The packages contain only ES modules. */
const unsupported = new Set(['node10', 'node16-cjs']);

const findings = {};
for (const file of process.argv.slice(2)) {
  const tarball = new Uint8Array(await readFile(file));
  const { messages, pkg } = await publint({ pack: { tarball: tarball.buffer }, strict: true });
  // A package without exports provides only a command, so attw has no types to check.
  const analysis = pkg.exports ? await checkPackage(createPackageFromTarballData(tarball)) : { problems: [] };
  const problems = (analysis.problems ?? []).filter(({ resolutionKind }) => !unsupported.has(resolutionKind));
  findings[file] = [
    ...messages.map((message) => formatMessage(message, pkg) ?? message.code),
    ...problems.map((problem) => JSON.stringify(problem)),
  ];
}
process.stdout.write(JSON.stringify(findings));
