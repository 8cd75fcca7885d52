import Negotiator from 'negotiator';
import type { Catalog } from '../definition/catalog.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request.js';
import { supportedVersion } from '../pipeline/route.js';
import type { JsonSchema } from '../validation/json-schema.js';
import { urlPattern } from './error-responses.js';

/** The index of an API version: links to the reference and to the top-level resources. */
export interface VersionIndex {
  readonly version: string;
  readonly url: string;
  readonly reference: string;
  readonly document: string;
  readonly resources: readonly {
    readonly name: string;
    readonly url: string;
    readonly description: string;
  }[];
}

/** The index of the API: the list of its versions. */
export interface RootIndex {
  readonly name: string;
  readonly versions: readonly Omit<VersionIndex, 'resources'>[];
}

export interface IndexSource {
  readonly catalog: Catalog;
  readonly apiUrl: string;
}

export function versionIndex({ apiUrl, catalog }: IndexSource): VersionIndex {
  const resources = [...catalog.roots.values()].map(({ name, description }) => ({
    name,
    url: `${apiUrl}/${name}`,
    description,
  }));
  return { ...versionLinks(apiUrl), resources };
}

export function rootIndex(name: string, apiUrl: string): RootIndex {
  return { name, versions: [versionLinks(apiUrl)] };
}

function versionLinks(apiUrl: string): Omit<VersionIndex, 'resources'> {
  return {
    version: supportedVersion,
    url: apiUrl,
    reference: `${apiUrl}/docs`,
    document: `${apiUrl}/openapi.json`,
  };
}

/** Returns the index as HTML if the caller prefers HTML to JSON, otherwise as JSON. */
export function indexResponse(
  index: VersionIndex | RootIndex,
  title: string,
  { headers: { accept = '*/*' } }: ApiRequest,
): ApiResponse {
  const form = new Negotiator({ headers: { accept } }).mediaType(['application/json', 'text/html']);
  if (form !== 'text/html') return { status: 200, headers: {}, body: index };
  return { status: 200, headers: { 'content-type': 'text/html; charset=utf-8' }, body: html(title, index) };
}

const text = (description: string, maxLength = 2000): JsonSchema => ({
  type: 'string',
  minLength: 0,
  maxLength,
  pattern: '^.*$',
  description,
});
const url = (description: string): JsonSchema => ({
  type: 'string',
  format: 'uri',
  minLength: 1,
  pattern: urlPattern,
  maxLength: 2048,
  description,
});

export const versionIndexSchema: JsonSchema = {
  type: 'object',
  description: 'Where to find the reference and the top-level resources.',
  required: ['version', 'url', 'reference', 'document', 'resources'],
  additionalProperties: false,
  properties: {
    version: text('The version of the API.', 10),
    url: url('The base URL of the version.'),
    reference: url('This reference.'),
    document: url('The OpenAPI document.'),
    resources: {
      type: 'array',
      minItems: 0,
      maxItems: 1000,
      description: 'The top-level resources.',
      items: { $ref: '#/components/schemas/IndexResource' },
    },
  },
};

/** The schema of one element of `resources` in {@link VersionIndex}. */
export const indexResourceSchema: JsonSchema = {
  type: 'object',
  description: 'A top-level resource.',
  required: ['name', 'url', 'description'],
  additionalProperties: false,
  properties: {
    name: text('The name of the resource.', 100),
    url: url('The URL of the collection.'),
    description: text('A description of the resource.'),
  },
};

function html(title: string, index: VersionIndex | RootIndex): string {
  const entries =
    'resources' in index
      ? [
          link(index.reference, 'Reference', ''),
          link(index.document, 'OpenAPI document', ''),
          ...index.resources.map((resource) => link(resource.url, resource.name, resource.description)),
        ]
      : index.versions.flatMap(({ version, url: versionUrl, reference }) => [
          link(versionUrl, `Version ${version}`, ''),
          link(reference, `Reference of ${version}`, ''),
        ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} API</title>
</head>
<body>
<main>
<h1>${escape(title)} API</h1>
<ul>
${entries.join('\n')}
</ul>
</main>
</body>
</html>
`;
}

function link(target: string, name: string, description: string): string {
  return `<li><a href="${escape(target)}">${escape(name)}</a> ${escape(description)}</li>`;
}

function escape(value: string): string {
  return value
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
