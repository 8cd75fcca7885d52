import { skewOf } from '../../diagnosis/clocks.js';
import { isSilent } from '../../diagnosis/consumers.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

const MAX_LOST = 20;

export async function serversPage(_request: PageRequest, context: PageContext): Promise<Page> {
  return {
    title: 'Servers',
    section: 'servers',
    view: 'page',
    regions: [
      {
        name: 'servers',
        view: 'servers-list',
        everyMs: 5_000,
        load: async () => {
          const { reader, now } = context;
          const [servers, lost] = await Promise.all([reader.servers.list(), reader.servers.listLost()]);
          const nowMs = now();
          return {
            servers: servers.map(({ clockAheadMs, ...server }) => ({
              ...server,
              silent: isSilent(server, nowMs),
              skew: skewOf(clockAheadMs),
            })),
            lost: lost.slice(0, MAX_LOST),
            moreLost: Math.max(0, lost.length - MAX_LOST),
          };
        },
      },
    ],
  };
}
