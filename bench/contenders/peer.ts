import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/processes/free-port.ts';
import { until } from '../../test/support/until.ts';
import { cores, end, run, start } from '../processes.ts';
import { type Arena, type Contender, forwardingTargets } from './contender.ts';

const packageName = '@portkey-ai/gateway';
/** Its headers begin with the name of its publisher. */
const headerPrefix = `x-${packageName.slice(1, packageName.indexOf('-'))}-`;

/**
 * The gateway peer published on npm, installed under `bench/peers` with a lock file of its own. It has no key, saved config or
 * record. Its HTTP adapter is pinned to the release it was built with, because with newer ones its streamed replies fail with
 * 500.
 */
export async function startPeer(arena: Arena): Promise<Contender> {
  const folder = fileURLToPath(new URL('../peers', import.meta.url));
  const program = `${folder}/node_modules/${packageName}/build/start-server.js`;
  if (!existsSync(program)) {
    arena.say('installing the npm peer (npm ci in bench/peers)');
    await run([], 'npm', ['ci', '--prefix', folder, '--no-audit', '--no-fund', '--ignore-scripts']);
  }
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = start(cores.gateway, process.execPath, [program, '--headless', `--port=${port}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production' },
  });
  await until(async () => (await fetch(origin)).status > 0, { what: 'the npm peer', deadlineMs: 30_000 });
  const config = { provider: 'openai', api_key: 'sk-upstream', custom_host: `${arena.upstreamOrigin}/v1` };
  return {
    name: 'peer',
    title: 'npm peer 1.15.2, inline config',
    targets: forwardingTargets(arena, `${origin}/v1`, { [`${headerPrefix}config`]: JSON.stringify(config) }),
    pids: () => [child.pid as number],
    otherPids: () => [],
    stop: () => end(child),
  };
}
