import { isSilent } from '../diagnosis/takers.js';
import type { Page, PageContext, PageRequest } from './page.js';

export async function serversPage(_request: PageRequest, { reader, now }: PageContext): Promise<Page> {
  return {
    title: 'Servers',
    section: 'servers',
    view: 'servers',
    regions: [
      {
        name: 'servers',
        view: 'servers-list',
        everyMs: 5_000,
        load: async () => {
          const servers = await reader.listServers();
          return { servers: servers.map((server) => ({ ...server, silent: isSilent(server, now()) })) };
        },
      },
    ],
  };
}
