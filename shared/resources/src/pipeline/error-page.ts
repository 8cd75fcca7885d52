import {
  type CatalogueEntry,
  errorCatalogue,
  type ErrorCode,
  parseErrorCode,
  statusOf,
} from '../errors/error-catalogue.js';
import { preferredType } from './request/media-type.js';
import type { ApiResponse } from './request/request.js';

/**
 * Returns the page that explains an error code, as JSON if the caller prefers it, otherwise as HTML. The member
 * `more info` of error payloads links to this page. Returns undefined if there is no such code.
 *
 * @param text the path segment after `/errors/`
 */
export function errorPage(text: string, accept: string | undefined): ApiResponse | undefined {
  const code = parseErrorCode(text);
  if (code === undefined) return undefined;
  const entry = errorCatalogue[code];
  const forms = ['text/html', 'application/json'];
  const form = preferredType(accept, forms);
  const headers = { vary: 'Accept', 'cache-control': 'public, max-age=3600' };
  if (form === 'application/json') {
    return { status: 200, headers, body: { code, status: statusOf(code), ...entry } };
  }
  return {
    status: 200,
    headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    body: html(code, entry),
  };
}

function html(code: ErrorCode, entry: CatalogueEntry): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${code} ${prose(entry.title)}</title>
</head>
<body>
<main>
<h1>${code} ${prose(entry.title)}</h1>
<p>HTTP status ${statusOf(code)}. “${prose(entry.userMessage)}”</p>
<h2>Cause</h2>
<p>${prose(entry.cause)}</p>
<h2>Fix</h2>
<p>${prose(entry.fix)}</p>
</main>
</body>
</html>
`;
}

/** Escapes HTML, and marks up `text in backquotes` as code. */
function prose(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/`([^`]*)`/g, '<code>$1</code>');
}
