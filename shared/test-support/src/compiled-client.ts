import path from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import ts from 'typescript';

export interface CompiledClient {
  /** The compiler's errors. */
  readonly problems: readonly string[];
  readonly load: () => Promise<Record<string, (client: unknown) => Promise<unknown>>>;
}

/** Compiles a client with the types that openapi-typescript generates from an OpenAPI document. */
export async function compileClient(document: object, source: string): Promise<CompiledClient> {
  const files = new Map([
    [
      path.join(import.meta.dirname, 'schema.ts'),
      astToString(await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false })),
    ],
    [path.join(import.meta.dirname, 'client.ts'), source],
  ]);
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const disk = { ...host };
  host.fileExists = (name) => files.has(name) || disk.fileExists(name);
  host.readFile = (name) => files.get(name) ?? disk.readFile(name);
  host.getSourceFile = (name, ...rest) => {
    const text = files.get(name);
    return text === undefined
      ? disk.getSourceFile(name, ...rest)
      : ts.createSourceFile(name, text, ts.ScriptTarget.ES2022);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext },
  });
  const url = `data:text/javascript,${encodeURIComponent(outputText)}`;
  return { problems, load: () => import(url) as ReturnType<CompiledClient['load']> };
}
