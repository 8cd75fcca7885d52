import Koa from 'koa';
import type { Logger } from './logger.js';

export interface ProxyConfig {
  readonly HTTP_TRUSTED_PROXIES: number;
}

/**
 * Creates the Koa application of a service. If there are trusted proxies, takes the addresses of clients from
 * `X-Forwarded-For`. If no proxy is configured but a request comes through one, logs a warning once, because all
 * clients then have the proxy's address and share one set of limits.
 */
export function createServiceApp({ HTTP_TRUSTED_PROXIES }: ProxyConfig, logger: Logger): Koa {
  const app = new Koa({ proxy: HTTP_TRUSTED_PROXIES > 0, maxIpsCount: HTTP_TRUSTED_PROXIES });
  if (HTTP_TRUSTED_PROXIES === 0) {
    let warned = false;
    app.use((ctx, next) => {
      if (!warned && ctx.get('x-forwarded-for') !== '') {
        warned = true;
        logger.warn(
          { address: ctx.ip },
          'requests come through a proxy, but HTTP_TRUSTED_PROXIES is 0: its clients share one address for limits and sign-in',
        );
      }
      return next();
    });
  }
  return app;
}
