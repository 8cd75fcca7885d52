import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eventually } from '@longshore/test-support';

export interface Nginx {
  stop(): Promise<void>;
}

/**
 * Starts nginx as a gateway. Response buffering and other proxy settings keep their defaults.
 *
 * @param locations the location blocks of nginx's server
 * @param upstreams the upstream blocks that the locations name
 */
export async function startNginx(port: number, locations: string, upstreams = ''): Promise<Nginx> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-nginx-'));
  await mkdir(path.join(directory, 'temporary'));
  await writeFile(path.join(directory, 'nginx.conf'), configuration(port, locations, upstreams));
  const child = spawn('nginx', ['-p', directory, '-c', 'nginx.conf', '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const closed = once(child, 'close');
  closed.catch(() => undefined);
  await eventually(async () => {
    if (child.exitCode !== null) throw new Error(`nginx ended:\n${said}`);
    return (await fetch(`http://127.0.0.1:${port}/nginx`)).ok;
  });
  return {
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      process.removeListener('exit', kill);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

function configuration(port: number, locations: string, upstreams: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path temporary/${name};`)
    .join('\n  ');
  return `
daemon off;
master_process off;
pid nginx.pid;
events { worker_connections 4096; }
http {
  access_log off;
  ${temporary}
  ${upstreams}
  server {
    listen 127.0.0.1:${port};
    location = /nginx { return 204; }
    ${locations}
  }
}
`;
}
