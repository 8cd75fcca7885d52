import type { IncomingMessage, ServerResponse } from 'node:http';
import { createApplication } from '@longshore/edge';
import { checkOptions, type OptionNames } from '@longshore/jobs/storage';
import Koa from 'koa';
import { createDashboard } from './dashboard.js';
import { BasePath } from './http/address.js';
import { type DashboardOptions, dashboardOptions } from './options.js';

/** The options of {@link createDashboard}, plus those of the request handler. */
export interface DashboardHandlerOptions extends DashboardOptions {
  /**
   * The number of proxies in front of the server that add the address from which they were called to `X-Forwarded-For`.
   * Defaults to 0: the headers of proxies are ignored.
   */
  readonly trustedProxies?: number;
  /** Called with unexpected errors. By default, they are written to standard error. */
  readonly onError?: (error: unknown) => void;
}

const handlerOptions: OptionNames<DashboardHandlerOptions> = {
  ...dashboardOptions,
  trustedProxies: true,
  onError: true,
};

/**
 * Answers a request below the dashboard's path. Passes any other request to `next`, or answers it with 404 if there is
 * no `next`. The framework must not have read the body or stripped a prefix from the URL of the request.
 */
export type DashboardHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => void;

/**
 * Creates the dashboard as a Node.js request handler, for `http.createServer` and for every framework that exposes
 * Node's request and response.
 *
 * ```ts
 * app.use(createDashboardHandler({ storage, control: storage, authorize })); // Express
 * ```
 *
 * @throws {TypeError} under the same conditions as {@link createDashboard}, and if `trustedProxies` is not a number of
 *   proxies
 */
export function createDashboardHandler(options: DashboardHandlerOptions): DashboardHandler {
  checkOptions('createDashboardHandler', options, handlerOptions);
  const { trustedProxies = 0, onError, ...ofDashboard } = options;
  const basePath = new BasePath(options.path ?? '/job-dashboard');
  const app = createApplication(Koa, trustedProxies);
  if (onError !== undefined) app.on('error', onError);
  app.use(createDashboard(ofDashboard));
  const answer = app.callback();
  return (request, response, next) => {
    const [path = '/'] = (request.url ?? '/').split('?');
    if (next !== undefined && basePath.inside(path) === null) next();
    else void answer(request, response);
  };
}
