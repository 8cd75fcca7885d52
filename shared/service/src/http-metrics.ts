import { Counter, Histogram, type Registry } from 'prom-client';
import { LabelValues } from './label-values.js';
import type { EndedRequest } from './observed-requests.js';

/** Upper bounds of the histogram buckets, in seconds. */
const buckets = [0.005, 0.01, 0.025, 0.1, 0.25, 1, 2.5, 10];

/** What counts the requests that exceed a limit, such as a `Throttle`. */
interface Limit {
  readonly refused: number;
}

/**
 * Adds metrics of HTTP requests to those of a process, by the pattern of their route.
 *
 * @param rateLimit the limit on requests per caller, if there is one
 * @returns a function that counts a request when its response has been sent
 */
export function measureRequests(registry: Registry, rateLimit?: Limit): (request: EndedRequest) => void {
  const registers = [registry];
  const requests = new Counter({
    name: 'longshore_http_requests_total',
    help: 'HTTP requests by method, route and status; 499 if the client left before the response',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'longshore_http_request_seconds',
    help: 'How long HTTP requests took until the response was sent, by method and route, except event streams',
    labelNames: ['method', 'route'],
    buckets,
    registers,
  });
  if (rateLimit !== undefined) measureLimit(registry, rateLimit);
  const routes = new LabelValues();
  return ({ method, route, status, durationMs, isEventStream }) => {
    const labels = { method, route: routes.of(route) };
    requests.inc({ ...labels, status });
    if (!isEventStream) durations.observe(labels, durationMs / 1_000);
  };
}

function measureLimit(registry: Registry, limit: Limit): void {
  const refused: Counter = new Counter({
    name: 'longshore_http_rate_limited_requests_total',
    help: 'HTTP requests that were refused because their caller exceeded its rate limit',
    registers: [registry],
    collect: () => {
      refused.reset();
      refused.inc(limit.refused);
    },
  });
}
