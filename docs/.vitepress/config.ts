import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type DefaultTheme } from 'vitepress';
import manifest from '../../package.json' with { type: 'json' };
import reference from '../reference/typedoc-sidebar.json' with { type: 'json' };

const docs = fileURLToPath(new URL('../', import.meta.url));
const repository = manifest.homepage.replace('#readme', '');

/** Returns the sidebar entry for a page. The text of the entry is the page's title. */
function page(name: string): DefaultTheme.SidebarItem {
  const [, title = name] = /^# (.*)$/m.exec(readFileSync(path.join(docs, `${name}.md`), 'utf8')) ?? [];
  return { text: title.replaceAll('`', ''), link: `/${name.replace(/README$/, '')}` };
}

/** Returns the sidebar entries of a folder's pages, in the order of the links in the folder's README. */
function pagesOf(folder: string): DefaultTheme.SidebarItem[] {
  const overview = readFileSync(path.join(docs, folder, 'README.md'), 'utf8');
  return Array.from(overview.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name = '']) => page(`${folder}/${name}`));
}

const numbered = readdirSync(path.join(docs, 'adr')).filter((file) => /^\d/.test(file));
const decisions = ['README.md', ...numbered.toSorted()];

export default defineConfig({
  title: 'Longshore',
  description: 'Background jobs on Postgres and resource-style web APIs, in TypeScript',
  outDir: '../.data/docs',
  cacheDir: '../.data/docs-cache',
  rewrites: { 'jobs/README.md': 'jobs/index.md', 'adr/README.md': 'adr/index.md' },
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  lastUpdated: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/icon.svg' }],
    // Long names wrap, so that tables fit the page. On narrow screens, tables scroll instead.
    ['style', {}, '@media (min-width: 960px) { .vp-doc td { overflow-wrap: anywhere } }'],
  ],
  markdown: {
    config: ({ core }) => {
      // Relative links to files outside docs/ do not work on the site. Replaces them with links to the repository.
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
  transformPageData: ({ relativePath }) => {
    // Hides the outline, because the page's wide table needs the space.
    if (relativePath === 'coming-from.md') return { frontmatter: { aside: false } };
  },
  themeConfig: {
    logo: '/icon.svg',
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Ranks the reference and the decisions lower, because they repeat terms more often than the guides.
            boostDocument: (id: string) => (/^\/(reference|adr)\//.test(id) ? 0.3 : 1),
          },
        },
      },
    },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
    nav: [
      { text: 'Quick start', link: '/quick-start' },
      { text: 'Jobs', link: '/jobs/' },
      { text: 'HTTP API', link: '/http-api' },
      { text: 'Reference', link: '/reference/' },
    ],
    sidebar: [
      {
        text: 'Start',
        items: ['quick-start', 'jobs/first-job', 'own-application', 'testing', 'coming-from'].map(page),
      },
      { text: 'Jobs', items: [page('jobs/README'), page('job-lifecycle'), ...pagesOf('jobs').slice(1)] },
      {
        text: 'Frameworks',
        items: ['express', 'fastify', 'koa', 'hono', 'nest', 'nextjs'].map((name) =>
          page(`frameworks/${name}`),
        ),
      },
      { text: 'HTTP API', items: ['http-api', 'http-events', 'access', 'errors', 'api-changelog'].map(page) },
      {
        text: 'Operating',
        items: [
          'operations',
          'sizing',
          'deploying',
          'kubernetes',
          'failover',
          'restore',
          'configuration',
          'metrics',
          'tracing',
          'alerts',
          'dashboard',
        ].map(page),
      },
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
