import fc from 'fast-check';
import type { Client } from './client.js';
import type { Findings } from './findings.js';
import { oddTexts, oddTimes } from './odd-values.js';
import { encodePart, type Request } from './request.js';

/** The place under which {@link askDashboard} reports its findings. */
export const asked = 'any address and form of the dashboard';

const base = '/job-dashboard';
const sections =
  'jobs queues types recurring batches servers bulk audit errors trends help set-aside exports searches'.split(
    ' ',
  );
const verbs =
  'log graph stream pause resume cancel retry run delete limit trigger reschedule rename stop quiet confirm save'.split(
    ' ',
  );
const parameters =
  'state queue name tag words args.a since until finished-after id action which search typed confirmed reason at toName until for jobs seconds after before page sort by attempt format lines token'.split(
    ' ',
  );
const types = [
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=UTF-8',
  'text/plain',
  '',
];

/** Parts of addresses that are not encoded, some of which cannot be decoded. */
const raw = ['%00', '%ff', '%zz', '%', '%ED%A0%80', '%2e%2e', '%2F', '', '//', 'a%00b', '%F0%9F%98%80'];

/** Generates requests for the dashboard: addresses of pages, of things that do not exist, and forms without a token. */
function requests(ids: readonly string[]): fc.Arbitrary<Request> {
  const odd = fc.constantFrom(...oddTexts, ...oddTimes);
  const id = ids.length === 0 ? odd : fc.constantFrom(...ids.flatMap((each) => [each, each.toUpperCase()]));
  const segment = fc.oneof(
    odd.map(encodePart),
    id.map(encodePart),
    fc.constantFrom(...raw),
    fc.constantFrom(...sections, ...verbs),
  );
  const inAnyCase = fc
    .constantFrom(...sections)
    .chain((word) => fc.constantFrom(word, word, word.toUpperCase()));
  const pair = fc
    .tuple(
      fc.constantFrom(...parameters),
      fc.oneof(odd.map(encodePart), id.map(encodePart), fc.constantFrom(...raw)),
    )
    .map(([name, value]) => `${name}=${value}`);
  const pairs = fc.array(pair, { maxLength: 3 }).map((list) => list.join('&'));
  return fc
    .record({
      method: fc.constantFrom('GET', 'GET', 'POST', 'HEAD', 'PUT'),
      prefix: fc.constantFrom(base, base, base.toUpperCase()),
      section: inAnyCase,
      rest: fc.array(segment, { maxLength: 2 }),
      query: pairs,
      type: fc.constantFrom(...types),
      form: pairs,
    })
    .map(({ method, prefix, section, rest, query, type, form }) => ({
      method,
      path: `${[prefix, section, ...rest].join('/')}${query === '' ? '' : `?${query}`}`,
      headers: method === 'POST' ? { 'content-type': type } : { accept: 'text/html' },
      body: method === 'POST' ? form : undefined,
    }));
}

/** Sends requests to the dashboard. Reports every status of 500 or above, and everything that is not answered. */
export async function askDashboard(
  client: Client,
  findings: Findings,
  ids: readonly string[],
  { seed, count }: { readonly seed: number; readonly count: number },
): Promise<void> {
  const waiting = fc.sample(requests(ids), { seed, numRuns: count });
  const lane = async (): Promise<void> => {
    for (let request = waiting.pop(); request !== undefined; request = waiting.pop()) {
      try {
        const answer = await client.send(request);
        if (answer !== null && answer.status >= 500)
          findings.add(
            asked,
            { fault: `answers ${answer.status}`, detail: answer.text.slice(-300) },
            client.baseUrl,
            request,
          );
      } catch (error) {
        findings.add(asked, { fault: 'no answer', detail: String(error) }, client.baseUrl, request);
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
}
