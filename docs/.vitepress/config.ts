import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';
import reference from '../reference/typedoc-sidebar.json' with { type: 'json' };

const docs = fileURLToPath(new URL('../', import.meta.url));
const repository = 'https://github.com/longshore/longshore';

/** Returns an entry of the side bar, whose text is the page's own title. */
function page(name: string): DefaultTheme.SidebarItem {
  const [, title = name] = /^# (.*)$/m.exec(readFileSync(path.join(docs, `${name}.md`), 'utf8')) ?? [];
  return { text: title.replaceAll('`', ''), link: `/${name.replace(/README$/, '')}` };
}

/** Returns the entries of a folder in the order in which its README lists them. */
function pagesOf(folder: string): DefaultTheme.SidebarItem[] {
  const overview = readFileSync(path.join(docs, folder, 'README.md'), 'utf8');
  return Array.from(overview.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name = '']) => page(`${folder}/${name}`));
}

const decisions = readdirSync(path.join(docs, 'adr')).toSorted();

export default defineConfig({
  title: 'Longshore',
  description: 'Background jobs on Postgres and resource-style web APIs, in TypeScript',
  outDir: '../.data/docs',
  cacheDir: '../.data/docs-cache',
  rewrites: { 'jobs/README.md': 'jobs/index.md' },
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  lastUpdated: true,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }]],
  markdown: {
    config: ({ core }) => {
      // Links to files outside of docs/ work in the repository; on the site, they lead there.
      core.ruler.push('links-to-the-repository', ({ tokens, env }) => {
        const { relativePath = '' } = env as { relativePath?: string };
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const href = token.attrGet('href') ?? '';
          const target = path.posix.normalize(
            path.posix.join('docs', path.posix.dirname(relativePath), href),
          );
          const isOutside = /^\.\.?\//.test(href) && !target.startsWith('docs/');
          if (isOutside) token.attrSet('href', `${repository}/blob/main/${target}`);
        }
      });
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
    nav: [
      { text: 'Guide', link: '/own-application' },
      { text: 'Jobs', link: '/jobs/' },
      { text: 'HTTP API', link: '/http-api' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: [
      { text: 'Start', items: [page('own-application'), page('jobs/first-job'), page('coming-from')] },
      { text: 'Jobs', items: [page('jobs/README'), page('job-lifecycle'), ...pagesOf('jobs').slice(1)] },
      { text: 'HTTP API', items: ['http-api', 'http-events', 'access', 'errors', 'api-changelog'].map(page) },
      { text: 'Operating', items: ['operations', 'configuration', 'dashboard'].map(page) },
      { text: 'How it is built', items: ['architecture', 'faults', 'fuzz'].map(page) },
      { text: 'Reference', collapsed: true, items: reference },
      {
        text: 'Decisions',
        collapsed: true,
        items: decisions.map((file) => page(`adr/${path.parse(file).name}`)),
      },
    ],
  },
});
