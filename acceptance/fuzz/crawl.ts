import type { Client } from './client.js';
import type { Findings } from './findings.js';

/** Maximum number of linked pages to visit per kind. Pages of one kind differ only in ids and parameter values. */
const eachKind = 10;
const lanes = 4;

/** Matches pages of items that may have been deleted while other pages still link to them, such as a job's parent, or that the audit
 * names although they never existed. */
const mayBeGone = /^\/job-dashboard\/(?:recurring|jobs|batches|servers|queues|bulk)\/[^/]+$/;

/** The place under which {@link crawl} reports its findings. */
export const crawled = 'the dashboard';

/**
 * Follows the dashboard's links from the overview, and opens the page of each job in `jobs`. Returns the number of
 * pages that responded with status 200.
 */
export async function crawl(client: Client, findings: Findings, jobs: readonly string[]): Promise<number> {
  const start = '/job-dashboard';
  const seen = new Set([start]);
  const kinds = new Map<string, number>();
  const waiting = jobs.map((id) => `${start}/jobs/${id}`);
  const pagesOfJobs = new Set(waiting);
  for (const path of waiting) seen.add(path);
  let answered = 0;

  /**
   * Absolute links that were already handled, as written in the HTML. Skipping them early saves time, because most
   * pages repeat the same links.
   */
  const read = new Set<string>();

  const follow = (html: string, from: string): void => {
    for (const [, href = ''] of html.matchAll(/<a\s[^>]*?href="([^"]*)"/g)) {
      const isAbsolute = href.startsWith('/');
      if (isAbsolute && read.has(href)) continue;
      if (isAbsolute) read.add(href);
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
            fault: `answers ${answer.status} (${kindOf(new URL(path, client.baseUrl))})`,
            detail: textOf(answer.text),
          },
          client.baseUrl,
          request,
        );
      follow(answer.text, path);
    } catch (error) {
      findings.add(crawled, { fault: 'no answer', detail: String(error) }, client.baseUrl, request);
    }
  };

  const lane = async (): Promise<void> => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await visit(path);
  };
  await visit(start); // first, so that the lanes start with its links
  await Promise.all(Array.from({ length: lanes }, lane));
  return answered;
}

function kindOf({ pathname, searchParams }: URL): string {
  const place = pathname.replace(/^(\/job-dashboard\/[\w-]+)\/[^/]+/, '$1/:id');
  return `${place}?${[...new Set(searchParams.keys())].toSorted().join('&')}`;
}

/** Returns the first 300 characters of a page's text, without the header and the navigation. */
function textOf(html: string): string {
  return html
    .replaceAll(/<(?:script|style|nav|header)[\s\S]*?<\/\w+>|<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 300);
}
