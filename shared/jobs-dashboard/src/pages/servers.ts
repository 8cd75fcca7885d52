import type { Page, PageContext, PageRequest } from './page.js';

export async function serversPage(_request: PageRequest, { reader }: PageContext): Promise<Page> {
  return {
    title: 'Servers',
    section: 'servers',
    view: 'servers',
    regions: [
      {
        name: 'servers',
        view: 'servers-list',
        everyMs: 5_000,
        load: async () => ({ servers: await reader.listServers() }),
      },
    ],
  };
}
