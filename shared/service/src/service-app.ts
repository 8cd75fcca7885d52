import Koa from 'koa';
import type { Logger } from './logger.js';

/** Number of trusted proxies in front. */
export interface ProxyConfig {
  readonly HTTP_TRUSTED_PROXIES: number;
}

/**
 * The Koa application of a service: it knows clients by the addresses that the trusted proxies give. Without any, the log
 * warns, once, when requests come through a proxy all the same: all clients have its address then, and share its limits.
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
