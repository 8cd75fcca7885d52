import type { Client } from './client.js';
import type { Findings } from './findings.js';

/** Pages that differ in nothing but ids and values of parameters are one kind; of each kind so many are looked at. */
const eachKind = 30;
const lanes = 4;

/** A page may name what has been removed since: the recurring job of a job, its parent, the server that ran it. */
const mayBeGone = /^\/job-dashboard\/(?:recurring|jobs|batches|servers)\/[^/]+$/;

/** Where the findings of the crawl are. */
export const crawled = 'the dashboard';

/** Follows the links of the dashboard from its overview, and opens the page of each job. Returns how many pages answered. */
export async function crawl(client: Client, findings: Findings, jobs: readonly string[]): Promise<number> {
  const start = '/job-dashboard';
  const seen = new Set([start]);
  const kinds = new Map<string, number>();
  const waiting = jobs.map((id) => `${start}/jobs/${id}`);
  const pagesOfJobs = new Set(waiting);
  for (const path of waiting) seen.add(path);
  let answered = 0;

  const follow = (html: string, from: string): void => {
    for (const [, href = ''] of html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)) {
      const url = new URL(
        href.replaceAll('&amp;', '&').replaceAll('&#34;', '"').replaceAll('&#39;', "'"),
        client.baseUrl + from,
      );
      const path = url.pathname + url.search;
      if (!url.pathname.startsWith(start) || url.origin !== client.baseUrl || seen.has(path)) continue;
      const kind = kindOf(url);
      const count = (kinds.get(kind) ?? 0) + 1;
      kinds.set(kind, count);
      if (count > eachKind) continue;
      seen.add(path);
      waiting.push(path);
    }
  };

  const visit = async (path: string): Promise<void> => {
    const request = { method: 'GET', path, headers: { accept: 'text/html' }, body: undefined };
    try {
      const answer = await client.send(request);
      if (answer === null) return;
      if (answer.status === 303 || answer.status === 302)
        follow(`<a href="${answer.headers.location ?? ''}"`, path);
      else if (answer.status === 200) answered += 1;
      else if (answer.status === 404 && mayBeGone.test(path) && !pagesOfJobs.has(path)) return;
      else
        findings.add(
          crawled,
          {
            what: `answers ${answer.status} (${kindOf(new URL(path, client.baseUrl))})`,
            detail: textOf(answer.text),
          },
          client.baseUrl,
          request,
        );
      follow(answer.text, path);
    } catch (error) {
      findings.add(crawled, { what: 'no answer', detail: String(error) }, client.baseUrl, request);
    }
  };

  const lane = async (): Promise<void> => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await visit(path);
  };
  await visit(start); // it links to more than one lane's work
  await Promise.all(Array.from({ length: lanes }, lane));
  return answered;
}

function kindOf({ pathname, searchParams }: URL): string {
  const place = pathname.replace(/^(\/job-dashboard\/[\w-]+)\/[^/]+/, '$1/:id');
  return `${place}?${[...new Set(searchParams.keys())].toSorted().join('&')}`;
}

/** What a page says, in a few words. */
function textOf(html: string): string {
  return html
    .replaceAll(/<(?:script|style|nav|header)[\s\S]*?<\/\w+>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300);
}
