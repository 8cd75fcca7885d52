import type { ThrottlePolicy } from '@longshore/edge';
import type { Security } from './policies.js';

/** A change to the API that callers can notice, in Markdown. */
export interface ApiChange {
  /** An ISO 8601 date: `2026-11-22`. */
  readonly date: string;
  readonly text: string;
}

export interface GuideSource {
  /** A description of the API, in Markdown. */
  readonly description: string;
  readonly apiUrl: string;
  readonly rootUrl: string;
  /** Whether any resource streams events. */
  readonly streams: boolean;
  readonly security: Security | undefined;
  readonly rateLimit: ThrottlePolicy | undefined;
  /** The changes to the API, newest first. */
  readonly changes: readonly ApiChange[];
}

/** Returns the introduction of the reference, in Markdown: the rules that all resources share, and the changelog. */
export function guide(source: GuideSource): string {
  const { description, apiUrl, rootUrl, streams, security, rateLimit, changes } = source;
  return [
    description,
    requests(apiUrl),
    authentication(security, rateLimit),
    errors(rootUrl),
    paging,
    conditions,
    idempotency,
    ...(streams ? [events] : []),
    versions,
    ...(changes.length > 0 ? [changelog(changes)] : []),
  ].join('\n\n');
}

const requests = (
  apiUrl: string,
): string => `The base URL is \`${apiUrl}\`. Bodies are JSON, in requests and responses; times are UTC, in ISO 8601. A resource has a
collection, such as \`/{resources}\`, and items, such as \`/{resources}/{id}\`. A special operation is a \`PUT\` on
an item and a verb, such as \`/{resources}/{id}/cancel\`. Collections are plain JSON arrays.`;

function authentication(security: Security | undefined, rateLimit: ThrottlePolicy | undefined): string {
  const schemes = Object.values(security?.schemes ?? {}).map(({ type, name, description }) => {
    const header = type === 'apiKey' ? `${String(name)}: …` : 'Authorization: Bearer …';
    return `- \`${header}\`: ${String(description)}`;
  });
  const credentials =
    security === undefined
      ? 'This service needs no credentials. It may still refuse calls from other machines and from pages of other sites.'
      : `Send credentials with each request:

${schemes.join('\n')}

Each operation names the scope that it needs. Requests without valid credentials get 401, and requests beyond the
credentials’ scopes get 403. Never put credentials into a URL or into code that runs in a browser.`;
  const limit =
    rateLimit === undefined
      ? ''
      : `

Each caller may send ${rateLimit.burst} requests at once and ${rateLimit.perSecond} per second on average. The
headers \`RateLimit\` and \`RateLimit-Policy\` state what is left; beyond the limit the response is 429, and \`Retry-After\`
gives the seconds to wait.`;
  return `## Authentication\n\n${credentials}${limit}`;
}

const errors = (rootUrl: string): string => `## Errors

Every response with a status of 400 or above has the same body, with all problems of the request at once:

\`\`\`json
{
  "errors": [
    {
      "userMessage": "A field has a value that is not allowed.",
      "internalMessage": "name must be string",
      "code": 42202,
      "more info": "${rootUrl}/errors/42202"
    }
  ]
}
\`\`\`

\`code\` is the status times 100 plus a number that is never reused; \`more info\` is a page that explains cause and fix.
\`userMessage\` is suitable for end users, \`internalMessage\` for developers. Handle errors by \`code\` or by status,
never by message. Callers that accept \`application/problem+json\` get a problem document (RFC 9457) with the same
\`errors\`. Every response has an \`X-Request-Id\`: quote it when you report a problem.

| status | meaning | try again? |
| --- | --- | --- |
| 400 | The request is malformed, or has an unknown parameter. | no: fix it |
| 401, 403 | Credentials are missing or wrong; or they are not enough. | with others |
| 404 | There is no such path or item. | no |
| 409 | The state of the item forbids the request. | once the state has changed |
| 412, 428 | \`If-Match\` does not hold, or is required. | with the current \`ETag\` |
| 413, 415, 422 | The body is too large, of another type, or has invalid fields. | no: fix it |
| 429, 503 | Too many requests, or the storage is unavailable. | yes, after \`Retry-After\` |
| 500 | A defect; \`internalMessage\` names the incident in the log. | with an \`Idempotency-Key\` |`;

const paging = `## Lists and paging

A list has 20 items unless \`limit\` asks for more or fewer. Follow the URLs in the \`Link\` header (RFC 8288), whose
relations are \`first\`, \`prev\`, \`next\` and \`last\`, and treat them as opaque: there is no further page without a
\`next\` link.

- Filters are parameters named after fields. Repeat an exact filter to match any of several values.
- \`q\` searches the text fields.
- \`sort=-createdAt,name\` orders by several fields; \`-\` is descending. Text sorts alphabetically (a, A, ä, b), and null comes last.
- \`fields=id,name\` returns only these fields.
- \`X-Total-Count\` is the number of items on all pages. Above 10 000 it may be an estimate, which
  \`Preference-Applied: count=estimated\` announces; \`Prefer: count=exact\` counts, and \`Prefer: count=none\` omits it.

An unknown parameter is an error, never ignored.`;

const conditions = `## Concurrent changes

The response for an item has an \`ETag\`. Send it as \`If-Match\` with a change, and the change is made only if nobody else has
changed the item since; otherwise the response is 412. Send it as \`If-None-Match\` with a \`GET\`, and the response is 304
without a body if the item is the same.`;

const idempotency = `## Idempotency

Send an \`Idempotency-Key\` of your choice, such as a UUID, with a \`POST\`, \`PUT\`, \`PATCH\` or \`DELETE\`. For 24 hours, a
repeated request with the same key gets the first response instead of being carried out again, so it is safe to repeat a
request whose response was lost. The order of the members of a body does not matter. The same key with another method, query
or body is 422; while the first request is still running, the response is 409 with \`Retry-After\`. Errors are not stored:
repeat the request with the same key.`;

const events = `## Events

Streams of events are server-sent events (HTML Standard, § 9.2): open them with \`EventSource\` in a browser, or with
\`curl --no-buffer\`. After a lost connection, a client sends the \`id\` of the last event that it received as
\`Last-Event-ID\`, and the stream resumes there; browsers do so by themselves. Events are delivered at least once, so an
event may arrive again after a reconnection. A comment arrives every 15 seconds while nothing happens.`;

const versions = `## Versions and deprecation

The version is part of the path. Within a version, changes are compatible: new resources, operations, optional parameters,
fields in answers, event types and error codes may be added at any time, so ignore fields that you do not know. Everything
else comes with a new version, which is served alongside the old one.

Before something ends, it is marked as deprecated here and in the [changelog](#description/changelog), and its responses have
a \`Deprecation\` header (RFC 9745) with the date, a \`Link\` to this reference, and, once the end is decided, a \`Sunset\`
header (RFC 8594) at least six months ahead.`;

function changelog(changes: readonly ApiChange[]): string {
  const byDate = new Map<string, string[]>();
  for (const { date, text } of changes) byDate.set(date, [...(byDate.get(date) ?? []), `- ${text}`]);
  const days = [...byDate].map(([date, texts]) => `**${date}**\n\n${texts.join('\n')}`);
  return `## Changelog\n\n${days.join('\n\n')}`;
}
