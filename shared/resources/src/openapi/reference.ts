import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { brotliDecompress, gzip } from 'node:zlib';
import { matchesWeakly, parseTags } from '../pipeline/handlers/representation.js';
import type { Reference } from '../pipeline/pipeline.js';
import { type ApiRequest, type ApiResponse, smallestEncoding } from '../pipeline/request.js';
import { supportedVersion } from '../pipeline/route.js';
import { type DocumentSource, openApiDocument } from './document.js';
import { indexResponse, rootIndex, versionIndex } from './index-page.js';

type Answer = NonNullable<ReturnType<Reference>>;

/**
 * Creates the handler for the indexes, `openapi.json`, and `docs` with its scripts. Generates the document on first
 * use.
 */
export function createReference(source: DocumentSource): Reference {
  const { apiUrl, info } = source;
  const path = new URL(apiUrl).pathname;
  const files = once((): ReadonlyMap<string, Answer> => {
    const cached = (answered: ApiResponse): Answer => {
      const response = tagged(answered);
      return ({ headers: requestHeaders }) => unlessKnown(response, requestHeaders['if-none-match']);
    };
    const page = referencePage(info.title, apiUrl, renderer);
    const script = { 'content-type': 'text/javascript; charset=utf-8' };
    return new Map<string, Answer>([
      ['', (request) => indexResponse(versionIndex(source), info.title, request)],
      ['openapi.json', cached({ status: 200, headers: {}, body: JSON.stringify(openApiDocument(source)) })],
      ['docs', renderer ? cached(page) : () => page],
      ['docs/start.js', cached({ status: 200, headers: script, body: startScript(path) })],
      ...(renderer ? [[`docs/${renderer.name}`, renderer.respond] as const] : []),
    ]);
  });
  return answerAt;

  function answerAt([first = '', version, ...segments]: readonly string[]): Answer | undefined {
    if (version?.toLowerCase() === supportedVersion) return files().get(segments.join('/').toLowerCase());
    if (version !== undefined || (first !== '' && first.toLowerCase() !== 'api')) return undefined;
    return (request) => indexResponse(rootIndex(info.title, apiUrl), info.title, request);
  }
}

function tagged(response: ApiResponse): ApiResponse {
  const digest = createHash('sha1').update(String(response.body)).digest('base64url');
  return { ...response, headers: { ...response.headers, etag: `"${digest}"` } };
}

/**
 * Returns a 304 if the caller already has the response, otherwise the response. The 304 repeats the content security
 * policy, because browsers replace stored headers with the headers of a 304.
 */
function unlessKnown(response: ApiResponse, ifNoneMatch: string | undefined): ApiResponse {
  const { 'content-type': _, ...headers } = response.headers;
  const tags = ifNoneMatch === undefined ? undefined : parseTags(ifNoneMatch);
  return tags !== undefined && matchesWeakly(tags, headers['etag'] ?? '')
    ? { ...response, status: 304, headers }
    : response;
}

function once<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => (value ??= make());
}

/**
 * Returns the headers of the page. The content security policy allows scripts only from this origin, and requests only
 * to this origin and to the API.
 */
function pageHeaders(apiUrl: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // Allows inline styles because the renderer inserts its styles into the page.
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(apiUrl).origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy.join('; ') };
}

/**
 * Returns the page that shows the OpenAPI document with @scalar/api-reference. Without the renderer, returns a 503 that
 * explains how to build it.
 *
 * @param apiUrl the URL of the API version, e.g. `https://example.com/api/v1`
 */
export function referencePage(title: string, apiUrl: string, renderer: Renderer | undefined): ApiResponse {
  const path = new URL(apiUrl).pathname;
  const document = `<a href="${path}/openapi.json">openapi.json</a>`;
  const headers = pageHeaders(apiUrl);
  if (renderer === undefined) {
    const help = `<p>This page needs its renderer: run <code>make build</code> where the API was built, and restart the API. The document that it shows is at ${document}.</p>`;
    return { status: 503, headers: { ...headers, 'cache-control': 'no-store' }, body: page(title, '', help) };
  }
  const scripts = [renderer.name, 'start.js'].map(
    (name) => `<script src="${path}/docs/${name}" defer></script>\n`,
  );
  const body = `<div id="reference"></div>
<noscript>The reference needs JavaScript. The document that it shows is at ${document}.</noscript>`;
  return { status: 200, headers, body: page(title, scripts.join(''), body) };
}

function page(title: string, scripts: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} API reference</title>
<link rel="icon" href="data:,">
${scripts}</head>
<body>
${body}
</body>
</html>
`;
}

/** Returns the script that starts the renderer, configured to send no requests to other hosts. */
function startScript(path: string): string {
  const configuration = {
    url: `${path}/openapi.json`,
    layout: 'modern',
    theme: 'default',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    persistAuth: false,
    documentDownloadType: 'direct',
    operationTitleSource: 'summary',
    defaultOpenFirstTag: true,
    orderRequiredPropertiesFirst: true,
    orderSchemaPropertiesBy: 'preserve',
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    hiddenClients: hiddenClients,
    customCss: style,
  };
  return `Scalar.createApiReference('#reference', ${JSON.stringify(configuration)});\n`;
}

/**
 * Code samples to hide, by language: all (`true`), or only those for the listed clients. The samples for curl,
 * JavaScript (fetch) and Python (requests) stay.
 */
const hiddenClients = {
  c: true,
  clojure: true,
  csharp: true,
  dart: true,
  fsharp: true,
  go: true,
  http: true,
  java: true,
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  julia: true,
  kotlin: true,
  node: true,
  objc: true,
  ocaml: true,
  php: true,
  powershell: true,
  python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
  r: true,
  ruby: true,
  rust: true,
  shell: ['httpie', 'wget'],
  swift: true,
};

// Hides the card for client libraries in the introduction. The card lists only languages that Scalar chooses, and each
// code sample already has a language menu.
const style = `
.scalar-app .scalar-reference-intro-clients { display: none; }
.scalar-app { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace; }
.scalar-app .markdown :is(th, td), .scalar-app .markdown :is(th, td) code { word-break: normal; overflow-wrap: normal; }
@media (max-width: 600px) { .scalar-app .markdown :is(th, td) { padding: 6px; } }
`;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** The script that renders the reference: the browser bundle of @scalar/api-reference. */
interface Renderer {
  /** The file name below `docs`. The name changes with the content, so browsers can cache the script indefinitely. */
  readonly name: string;
  /**
   * Serves the script as Brotli, gzip or plain text, depending on `Accept-Encoding`. Browsers accept Brotli only over
   * HTTPS and on localhost, so gzip is needed too.
   */
  readonly respond: (request: ApiRequest) => Promise<ApiResponse>;
}

/** Reads the Brotli-compressed bundle. Returns undefined if the file does not exist; `make build` creates it. */
export function readRenderer(file: URL): Renderer | undefined {
  if (!existsSync(file)) return undefined;
  const bundle = readFileSync(file);
  const plain = once(async () => promisify(brotliDecompress)(bundle));
  const zipped = once(async () => promisify(gzip)(await plain()));
  return {
    name: `scalar-${createHash('sha256').update(bundle).digest('hex').slice(0, 12)}.js`,
    respond: async ({ headers }) => {
      const cacheHeaders = {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
      };
      switch (smallestEncoding(headers['accept-encoding'] ?? '')) {
        case 'br':
          return { status: 200, headers: { ...cacheHeaders, 'content-encoding': 'br' }, body: bundle };
        case 'gzip':
          return {
            status: 200,
            headers: { ...cacheHeaders, 'content-encoding': 'gzip' },
            body: await zipped(),
          };
        default:
          return { status: 200, headers: cacheHeaders, body: await plain() };
      }
    },
  };
}

/** The renderer in the version that `assets/scalar.json` pins; undefined if it has not been built. */
const renderer = readRenderer(new URL('../../assets/scalar.js.br', import.meta.url));
