import { type Arena, type Contender, forwardingTargets } from './contender.ts';

/** No proxy: the limit of upstream and load generator. */
export async function startDirect(arena: Arena): Promise<Contender> {
  return {
    name: 'direct',
    title: 'upstream, nothing in between',
    targets: forwardingTargets(arena, `${arena.upstreamOrigin}/v1`),
    pids: () => [],
    otherPids: () => [],
    stop: async () => undefined,
  };
}
