import { ibmReasons } from './ibm-waivers.js';

/** A finding that is accepted, with the reason. */
export interface Waiver {
  readonly judge: 'redocly' | 'scalarParser' | 'spectral' | 'ibm';
  readonly rule: string;
  /** Matches the finding's path in the document; any path by default. */
  readonly at?: RegExp;
  readonly reason: string;
}

const errorPage = /^paths\/\/errors\/\{code\}\//;
/** Matches locations in response headers, in responses and in schemas of stored items. */
const answers = /^components\/(?:headers\/|schemas\/(?!\w*(?:Create|Replace|Patch|Bulk)))|\/responses\//;
const publicPage = /^paths\/\/(?:errors\/\{code\})?\/get\//;

/** All accepted findings. A test fails if a waiver no longer matches any finding. */
export const waivers: readonly Waiver[] = [
  { judge: 'redocly', rule: 'no-ambiguous-paths', reason: '`search` is never the id of an item.' },
  {
    judge: 'spectral',
    rule: 'owasp:api4:2023-array-limit',
    at: new RegExp(String.raw`/requestBody/|${answers.source}|^components/schemas/\w+(?:Create|OneOrMany)/`),
    reason:
      'An array of 10,000 items is more than tools should generate, so the limit is in words; stored arrays are as long as they are (ADR 19).',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api4:2023-string-limit',
    at: answers,
    reason: 'Stored text is as long as it is. Texts in requests have limits, which a test checks (ADR 19).',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api2:2023-no-credentials-in-url',
    at: /^paths\/\/api-keys\/\{apiKeyId\}\//,
    reason: 'The id of an API key is not secret.',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api2:2023-read-restricted',
    at: publicPage,
    reason: 'The index and the error pages are public.',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api8:2023-define-error-responses-401',
    at: publicPage,
    reason: 'The index and the error pages are public.',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api4:2023-rate-limit',
    at: errorPage,
    reason: 'The error pages have no rate limit.',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api4:2023-rate-limit-responses-429',
    at: errorPage,
    reason: 'The error pages have no rate limit.',
  },
  {
    judge: 'spectral',
    rule: 'owasp:api8:2023-define-cors-origin',
    at: /^components\/headers$/,
    reason: 'These are definitions of headers, not a response with headers.',
  },
  ...Object.entries(ibmReasons).map(([rule, reason]) => ({ judge: 'ibm' as const, rule, reason })),
];
