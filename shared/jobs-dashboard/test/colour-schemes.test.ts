import { readdir, readFile } from 'node:fs/promises';
import { expect } from 'chai';

const styles = new URL('../assets/styles/', import.meta.url);

/**
 * At each width, `pages.browser.ts` checks one of the two schemes against all rules, and the other only against the
 * colour rules. This suffices as long as the schemes differ only in colours.
 */
describe('The colour schemes', () => {
  it('differ in the values of colours only', async () => {
    const files = await readdir(styles);
    const texts = await Promise.all(files.map((file) => readFile(new URL(file, styles), 'utf8')));
    const blocks = texts.flatMap((text) => text.split(/@media[^{]*prefers-color-scheme[^{]*\{/).slice(1));
    const declarations = blocks.flatMap((block) => {
      const body = /^\s*:root \{([^}]*)\}\s*\}/.exec(block)?.[1] ?? `not only :root: ${block.slice(0, 80)}`;
      return body.split(';').map((declaration) => declaration.trim());
    });
    expect(declarations).to.have.length.above(10);
    expect(
      declarations.filter(
        (declaration) => declaration !== '' && !/^--[\w-]+: #[0-9a-f]{6}$/.test(declaration),
      ),
    ).to.deep.equal([]);
  });
});
