import { cores, end, startServer } from '../processes.ts';
import { type Arena, type Contender, forwardingTargets } from './contender.ts';

/** The yardstick: `bare-proxy.ts`. */
export async function startBare(arena: Arena): Promise<Contender> {
  const { child, port } = await startServer(cores.gateway, new URL('../bare-proxy.ts', import.meta.url), [arena.upstreamOrigin]);
  return {
    name: 'bare',
    title: 'bare uWebSockets.js + undici proxy',
    targets: forwardingTargets(arena, `http://127.0.0.1:${port}/v1`),
    pids: () => [child.pid as number],
    otherPids: () => [],
    stop: () => end(child),
  };
}
