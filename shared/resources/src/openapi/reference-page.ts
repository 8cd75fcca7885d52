import { rendererName } from './renderer.js';

/** Headers of the page. It runs scripts of this origin only, and calls this origin and the configured server. */
export function pageHeaders(apiUrl: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    // The renderer inserts its styles into the page.
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
 * Returns the page that shows the OpenAPI document with @scalar/api-reference.
 * @param path the path of the API version, e.g. `/api/v1`
 */
export function referencePage(title: string, path: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(title)} API reference</title>
<link rel="icon" href="data:,">
<script src="${path}/docs/${rendererName}" defer></script>
<script src="${path}/docs/start.js" defer></script>
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The document that it shows is at <a href="${path}/openapi.json">openapi.json</a>.</noscript>
</body>
</html>
`;
}

/** Returns the script that starts the renderer, without anything that asks other hosts. */
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

/** Samples are shown for curl, JavaScript (fetch) and Python (requests). */
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

const style = `
.scalar-app { --scalar-font: system-ui, sans-serif; --scalar-font-code: ui-monospace, monospace; }
`;

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
