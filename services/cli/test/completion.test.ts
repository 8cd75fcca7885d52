import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

function scriptFor(shell: 'bash' | 'zsh'): string {
  const args = [main, 'completion', shell];
  return execFileSync(process.execPath, args, { encoding: 'utf8' });
}

describe('The completion of the command line in bash', () => {
  let script: string;
  before(() => (script = scriptFor('bash')));

  /** Returns what bash proposes for the last word. */
  function proposals(...words: string[]): string[] {
    const list = words.map((word) => `'${word}'`).join(' ');
    const line = `COMP_WORDS=(longshore ${list}); COMP_CWORD=${words.length}; _longshore; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync('bash', ['-c', `${script}\n${line}`], { encoding: 'utf8' })
      .trim()
      .split('\n');
  }

  it('proposes commands', () => {
    expect(proposals('mig')).to.deep.equal(['migrate']);
  });

  it('proposes what can be done with a collection', () => {
    expect(proposals('queues', '')).to.include.members(['pause', 'resume', 'delete']);
  });

  it('proposes the options of a command, whatever precedes them', () => {
    expect(proposals('--url', 'http://localhost', 'queues', 'pause', 'mail', '--un')).to.deep.equal([
      '--until',
    ]);
  });
});

describe('The completion of the command line in zsh', () => {
  it('is that of bash, once zsh has loaded what runs completions made for bash', () => {
    const [first, ...rest] = scriptFor('zsh').split('\n');
    expect(first).to.equal('autoload -U +X bashcompinit && bashcompinit');
    expect(rest.join('\n')).to.equal(scriptFor('bash'));
  });
});
