import type { JsonSchema } from '../validation/json-schema.js';
import {
  isReference,
  type OpenApiDocument,
  type OperationObject,
  type ParameterObject,
  type PathItem,
} from './document-types.js';
import type { SecuritySchemes } from './security.js';

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Renders the OpenAPI document as one HTML page without scripts. */
export function referencePage(document: OpenApiDocument): string {
  const { info, servers, tags, components } = document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) => operationsOf(path, item));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(String(info['title']))}</title>
<link rel="stylesheet" href="docs/style.css">
</head>
<body>
<header>
<h1>${escape(String(info['title']))}</h1>
<p>${escape(String(info['description']))}</p>
<p>Base <code>${escape(servers[0]?.url ?? '')}</code> · <a href="openapi.json">OpenAPI 3.1 document</a></p>
</header>
<nav aria-label="Resources"><ul>${tags.map(({ name }) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul></nav>
<main>
${tags.map((tag) => section(tag, operations)).join('\n')}
${credentials(components.securitySchemes ?? {})}
<section><h2 id="schemas">Schemas</h2>
${Object.entries(components.schemas)
  .map(([name, schema]) => schemaDetails(name, schema))
  .join('\n')}
</section>
</main>
</body>
</html>
`;
}

function credentials(schemes: SecuritySchemes): string {
  const kinds = Object.values(schemes).map(({ type, name, description }) => {
    const header = type === 'apiKey' ? `${String(name)}: …` : 'Authorization: Bearer …';
    return `<li><code>${escape(header)}</code> ${escape(String(description))}</li>`;
  });
  return kinds.length === 0
    ? ''
    : `<section><h2 id="credentials">Credentials</h2>\n<ul>${kinds.join('')}</ul></section>`;
}

interface Located {
  readonly path: string;
  readonly method: string;
  readonly operation: OperationObject;
  readonly parameters: readonly ParameterObject[];
}

function operationsOf(path: string, item: PathItem): readonly Located[] {
  const shared = (item['parameters'] ?? []) as readonly ParameterObject[];
  return methods.flatMap((method) => {
    const operation = item[method] as OperationObject | undefined;
    return operation === undefined
      ? []
      : [{ path, method, operation, parameters: [...shared, ...(operation.parameters ?? [])] }];
  });
}

function section(tag: OpenApiDocument['tags'][number], operations: readonly Located[]): string {
  const own = operations.filter(({ operation }) => operation.tags.includes(tag.name));
  return `<section><h2 id="${tag.name}">${tag.name}</h2>
<p>${escape(tag.description)}</p>
${own.map(details).join('\n')}
</section>`;
}

function details({ path, method, operation, parameters }: Located): string {
  return `<details id="${operation.operationId}">
<summary><b class="${method}">${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</summary>
<p>${escape(operation.description)}</p>
${parameters.length === 0 ? '' : parameterTable(parameters)}
${operation.requestBody === undefined ? '' : `<h3>Body</h3>${json(operation.requestBody['content'])}`}
<h3>Answers</h3>
<table><thead><tr><th>Status</th><th>Meaning</th></tr></thead><tbody>
${Object.entries(operation.responses)
  .map(([status, response]) => `<tr><td>${status}</td><td>${meaning(status, response)}</td></tr>`)
  .join('\n')}
</tbody></table>
</details>`;
}

function parameterTable(parameters: readonly ParameterObject[]): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `<tr><td><code>${escape(name)}</code>${required === true ? ' *' : ''}</td><td>${place}</td><td>${escape(description)}</td><td>${type(schema)}</td></tr>`,
  );
  return `<h3>Parameters</h3>
<table><thead><tr><th>Name</th><th>In</th><th>Meaning</th><th>Type</th></tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}

function meaning(status: string, response: OperationObject['responses'][string]): string {
  return isReference(response)
    ? `The <a href="#schema-ErrorPayload">error payload</a> with status ${status}`
    : escape(response.description);
}

function type(schema: JsonSchema): string {
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${escape(String(value))}</code>`).join(' ');
  const name = [schema.type ?? 'any'].flat().join(' or ');
  const bounds = [
    schema.format,
    schema.minimum === undefined ? undefined : `from ${schema.minimum}`,
    schema.maximum === undefined ? undefined : `to ${schema.maximum}`,
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ].filter((bound) => bound !== undefined);
  const items = schema.items === undefined ? '' : ` of ${type(schema.items)}`;
  return `${escape([name, ...bounds].join(', '))}${items}`;
}

function schemaDetails(name: string, schema: JsonSchema): string {
  return `<details id="schema-${name}"><summary><code>${name}</code></summary>${json(schema)}</details>`;
}

function json(value: unknown): string {
  return `<pre>${escape(JSON.stringify(value, null, 2))}</pre>`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** The stylesheet of the reference page. */
export const referenceStyle = `
:root { color-scheme: light dark; --line: #8884; --accent: #06c; }
@media (prefers-color-scheme: dark) { :root { --accent: #6bf; } }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--accent); }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; padding: 0; }
section { border-top: 1px solid var(--line); }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .5rem 0; padding: .4rem .8rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
summary b { display: inline-block; min-width: 4.5rem; font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
pre { overflow-x: auto; border: 1px solid var(--line); border-radius: .4rem; padding: .6rem; max-height: 30rem; }
`;
