import type { ThrottlePolicy } from '@longshore/edge';
import type { Catalog } from '../definition/catalog.js';
import type { Resource } from '../definition/resource.js';
import type { HeaderObject, OpenApiDocument, PathItem } from './document-types.js';
import {
  errorDetailSchema,
  errorPageExample,
  errorPageSchema,
  errorPayloadSchema,
  errorReference,
  errorResponses,
  problemSchema,
} from './error-responses.js';
import { type ApiChange, guide } from './guide.js';
import { headerReferences, responseHeaders } from './headers.js';
import { indexResourceSchema, versionIndex, versionIndexSchema } from './index-page.js';
import { pathFilterSchema, pathParameter } from './parameters.js';
import { catalogPaths } from './paths.js';
import {
  limitedPaths,
  limitedResponses,
  rateLimitHeaders,
  requirements,
  securedPaths,
  type Security,
} from './policies.js';
import { schemasOf } from './schemas.js';
import { type ResourceGroup, selfTag, tagGroups, tagsOf } from './tags.js';

export interface ApiInfo {
  readonly title: string;
  /** A description of the API in Markdown, shown at the beginning of the reference. */
  readonly description: string;
  /** The version of the software, not of the API. */
  readonly version: string;
  /** The changelog of the API, newest first. */
  readonly changes?: readonly ApiChange[];
  /** Groups of resources, in the order in which the reference shows them; default: one group of all resources. */
  readonly groups?: readonly ResourceGroup[];
}

export interface DocumentSource {
  readonly catalog: Catalog;
  readonly info: ApiInfo;
  readonly rootUrl: string;
  readonly apiUrl: string;
  /** undefined if the API needs no credentials. */
  readonly security: Security | undefined;
  /** undefined if there is no rate limit. */
  readonly rateLimit: ThrottlePolicy | undefined;
}

/** Generates the OpenAPI 3.1 document of an API. */
export function openApiDocument({
  catalog,
  info,
  rootUrl,
  apiUrl,
  security,
  rateLimit,
}: DocumentSource): OpenApiDocument {
  const { changes = [], groups = [{ title: 'Resources', resources: [...catalog.roots.keys()] }] } = info;
  const resources = allResources([...catalog.roots.values()]);
  const served = catalogPaths(catalog, security !== undefined);
  const secured = security === undefined ? served : securedPaths(catalog, security, served);
  const counted = { ...secured, ...indexPath({ apiUrl, catalog }) };
  const limited = rateLimit === undefined ? counted : limitedPaths(counted);
  const paths = { ...limited, ...errorPath(rootUrl) };
  const errors = referenced(errorResponses(rootUrl), 'responses', paths);
  const responses = rateLimit === undefined ? errors : limitedResponses(errors);
  const headers = { ...responseHeaders, ...(rateLimit && rateLimitHeaders(rateLimit)) };
  return {
    openapi: '3.1.1',
    info: {
      title: info.title,
      summary: info.title,
      description: guide({
        description: info.description,
        apiUrl,
        rootUrl,
        streams: resources.some((resource) => catalog.storageOf(resource).stream !== undefined),
        security,
        rateLimit,
        changes,
      }),
      version: info.version,
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Reference', url: `${apiUrl}/docs` },
    },
    servers: [
      {
        url: apiUrl,
        description: 'The service at its configured base URL: local, staging or production',
        'x-internal': false,
      },
    ],
    tags: tagsOf(resources, catalog.roots),
    'x-tagGroups': tagGroups(groups, catalog.roots),
    security: security === undefined ? [] : requirements(security.schemes),
    paths,
    components: {
      schemas: {
        ErrorPayload: errorPayloadSchema,
        ErrorDetail: errorDetailSchema,
        Problem: problemSchema,
        ErrorPage: errorPageSchema,
        Index: versionIndexSchema,
        IndexResource: indexResourceSchema,
        ...referenced({ PathFilter: pathFilterSchema, ...schemasOf(resources) }, 'schemas', paths),
      },
      responses,
      headers: referenced<HeaderObject>(headers, 'headers', [paths, responses]),
      ...(security && { securitySchemes: security.schemes }),
    },
  };
}

/**
 * Returns the components that `users` refer to, directly or through other components. Some components are unused: for
 * example, no operation refers to the 405 response, because the document lists only supported methods.
 */
function referenced<Component>(
  components: Readonly<Record<string, Component>>,
  kind: string,
  users: unknown,
): Readonly<Record<string, Component>> {
  const parameters = new Set<string>();
  const prefix = `#/components/${kind}/`;
  const visit = (user: unknown): void => {
    if (typeof user === 'object' && user !== null) for (const part of Object.values(user)) visit(part);
    if (typeof user !== 'string' || !user.startsWith(prefix)) return;
    const name = user.slice(prefix.length);
    if (parameters.has(name) || !Object.hasOwn(components, name)) return;
    parameters.add(name);
    visit(components[name]);
  };
  visit(users);
  return Object.fromEntries(Object.entries(components).filter(([name]) => parameters.has(name)));
}

/** Returns all top-level resources and their descendants, each once. */
function allResources(roots: readonly Resource[]): readonly Resource[] {
  const resources = new Set<Resource>();
  const visit = (resource: Resource): void => {
    if (resources.has(resource)) return;
    resources.add(resource);
    for (const { resource: child } of resource.children.values()) visit(child);
  };
  for (const resource of roots) visit(resource);
  return [...resources];
}

const page = {
  schema: { description: 'A page.', type: 'string', minLength: 1, pattern: String.raw`^[\s\S]*$` },
  example: '<!doctype html>',
};

/** Describes the index, the page at the root of an API version, as an OpenAPI path. */
function indexPath(source: Pick<DocumentSource, 'apiUrl' | 'catalog'>): Readonly<Record<string, PathItem>> {
  return {
    '/': {
      get: {
        operationId: 'getIndex',
        summary: 'Retrieve the index',
        description:
          'Returns the URLs of the reference, the OpenAPI document and the top-level resources, as JSON or HTML.',
        tags: [selfTag],
        security: [],
        responses: {
          '200': {
            description: 'The index.',
            headers: headerReferences(),
            content: {
              'application/json': {
                schema: { $ref: '#/components/schemas/Index' },
                example: versionIndex(source),
              },
              'text/html': page,
            },
          },
          '400': errorReference(400),
          '421': errorReference(421),
          '429': errorReference(429),
          '500': errorReference(500),
        },
      },
    },
  };
}

/** Describes the pages that explain error codes, as an OpenAPI path. */
function errorPath(rootUrl: string): Readonly<Record<string, PathItem>> {
  const code = pathParameter('code', 'An error code.', {
    type: 'integer',
    minimum: 40000,
    maximum: 59999,
    examples: [40402],
  });
  return {
    '/errors/{code}': {
      servers: [{ url: rootUrl, description: 'This service, outside the version' }],
      parameters: [code],
      get: {
        operationId: 'getError',
        summary: 'Explain an error code',
        description:
          'Returns the cause of an error and how to fix it, as HTML or JSON. `more info` in an error links to this page.',
        tags: [selfTag],
        security: [],
        responses: {
          '200': {
            description: 'The explanation.',
            headers: headerReferences(),
            content: {
              'text/html': page,
              'application/json': {
                schema: { $ref: '#/components/schemas/ErrorPage' },
                example: errorPageExample,
              },
            },
          },
          '400': errorReference(400),
          '404': errorReference(404),
          '421': errorReference(421),
          '500': errorReference(500),
        },
      },
    },
  };
}
