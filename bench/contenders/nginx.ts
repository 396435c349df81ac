import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { childrenOf } from '../../test/support/processes/process-tree.ts';
import { until } from '../../test/support/until.ts';
import { cores, end, findProgram, start } from '../processes.ts';
import { type Arena, type Contender, forwardingTargets } from './contender.ts';

/**
 * nginx `proxy_pass` in its best configuration for this: one worker, 1,024 kept upstream connections, no buffering, no log. Null
 * if it is not installed.
 */
export async function startNginx(arena: Arena): Promise<Contender | null> {
  const program = findProgram('nginx');
  if (!program) {
    arena.say('nginx is not installed: left out');
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-nginx-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, new URL(arena.upstreamOrigin).host));
  const child = start(cores.gateway, program, ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')]);
  await until(async () => (await fetch(`http://127.0.0.1:${port}/ready`, { method: 'POST', body: '' })).ok, { what: 'nginx' });
  return {
    name: 'nginx',
    title: 'nginx `proxy_pass`',
    targets: forwardingTargets(arena, `http://127.0.0.1:${port}/v1`),
    pids: () => [child.pid as number, ...childrenOf(child.pid as number)],
    otherPids: () => [],
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function configuration(folder: string, port: number, upstream: string): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `  ${name}_temp_path ${folder}/${name};`);
  return `daemon off;
worker_processes 1;
${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${folder}/nginx.pid;
error_log stderr error;
events { worker_connections 16384; }
http {
${temporary.join('\n')}
  access_log off;
  keepalive_requests 1000000000;
  client_body_buffer_size 1m;
  upstream provider {
    server ${upstream};
    keepalive 1024;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}
