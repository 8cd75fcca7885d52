// node check-declarations.mjs COMPILER PROJECT: type-checks the files of a project and the declarations of Longshore's
// packages that they import, but not those of other packages, which take ten times as long. Prints the errors.
import path from 'node:path';

const [, , compiler, project] = process.argv;
const { default: ts } = await import(path.join(compiler, 'lib/typescript.js'));
const { config } = ts.readConfigFile(path.join(project, 'tsconfig.json'), ts.sys.readFile);
const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, project);
const program = ts.createProgram(fileNames, options);
const checked = program
  .getSourceFiles()
  .filter(({ fileName }) => !/\/node_modules\/(?!@?longshore\/)/.test(fileName));
const errors = [
  ...program.getOptionsDiagnostics(),
  ...program.getGlobalDiagnostics(),
  ...checked.flatMap((file) => [
    ...program.getSyntacticDiagnostics(file),
    ...program.getSemanticDiagnostics(file),
  ]),
];
const host = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => project,
  getNewLine: () => '\n',
};
console.log(`${checked.length} files checked\n${ts.formatDiagnostics(errors, host)}`);
