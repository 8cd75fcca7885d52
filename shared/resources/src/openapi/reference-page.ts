import type { ApiResponse } from '../pipeline/request/request.js';
import type { Renderer } from './renderer.js';

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
export function startScript(path: string): string {
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
