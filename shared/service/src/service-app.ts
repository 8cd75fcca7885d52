import { createApplication } from '@longshore/edge';
import Koa from 'koa';
import type { Logger } from './logger.js';

export interface ProxyConfig {
  readonly HTTP_TRUSTED_PROXIES: number;
}

/**
 * Creates the Koa application of a service. Takes client addresses from `X-Forwarded-For` if there are trusted proxies.
 * Otherwise logs a warning on the first request through a proxy: all clients then share the proxy's address and limits.
 */
export function createServiceApp({ HTTP_TRUSTED_PROXIES }: ProxyConfig, logger: Logger): Koa {
  const app = createApplication(Koa, HTTP_TRUSTED_PROXIES);
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
