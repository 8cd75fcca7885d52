import Koa from 'koa';
import type { Logger } from './logger.js';

/** How many proxies in front are believed. */
export interface ProxyConfig {
  readonly TRUSTED_PROXIES: number;
}

/**
 * The Koa application of a service: it knows clients by the addresses that the trusted proxies give. Without any, the log
 * warns, once, when requests come through a proxy all the same: all clients have its address then, and share its limits.
 */
export function createServiceApp({ TRUSTED_PROXIES }: ProxyConfig, logger: Logger): Koa {
  const app = new Koa({ proxy: TRUSTED_PROXIES > 0, maxIpsCount: TRUSTED_PROXIES });
  if (TRUSTED_PROXIES === 0) {
    let warned = false;
    app.use((ctx, next) => {
      if (!warned && ctx.get('x-forwarded-for') !== '') {
        warned = true;
        logger.warn(
          { address: ctx.ip },
          'requests come through a proxy, but TRUSTED_PROXIES is 0: its clients share one address for limits and sign-in',
        );
      }
      return next();
    });
  }
  return app;
}
