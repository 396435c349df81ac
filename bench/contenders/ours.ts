import { fileURLToPath } from 'node:url';
import { startGateway } from '../../test/support/start-gateway.ts';
import type { Target } from '../load/load.ts';
import { cores, moveToLoadCore } from '../processes.ts';
import type { Scenario, ScenarioName } from '../scenarios.ts';
import type { Arena, Contender } from './contender.ts';

/**
 * The product as a user starts it, with one gateway process: API key, saved config, provider with a sealed credential, record and
 * metrics on. The control plane shares the load core, because it is outside the request path.
 */
export async function startOurs(arena: Arena): Promise<Contender> {
  const gateway = await startGateway({
    sourceDir: fileURLToPath(new URL('../..', import.meta.url)),
    prefix: cores.gateway,
    env: { GATEWAY_PROCESSES: '1', LOG_LEVEL: 'warn' },
  });
  for (const pid of gateway.pidsOf('control-plane')) moveToLoadCore(pid);
  const provider = await gateway.admin.createUpstream('bench', `${arena.upstreamOrigin}/v1`);
  const plain = await gateway.admin.createConfig({ provider });
  const cached = await gateway.admin.createConfig({ provider, cache: { mode: 'simple' } });
  const limited = await gateway.admin.createKey({
    rate_limits: [{ type: 'requests', unit: 'rpm', value: 1e9 }],
    usage_limits: { type: 'tokens', credit_limit: 1e12, periodic_reset: 'monthly' },
  });
  const configOf = (name: ScenarioName) => (name === 'cached' ? cached : plain);
  const target = (scenario: Scenario): Target => ({
    url: gateway.baseUrl + scenario.path,
    headers: {
      'content-type': scenario.contentType,
      'x-svc-api-key': scenario.name === 'limited' ? limited.key : gateway.workspaceKey,
      'x-svc-config': configOf(scenario.name),
    },
    body: scenario.body,
  });
  return {
    name: 'ours',
    title: 'this gateway: key, saved config, record, metrics',
    targets: Object.fromEntries(arena.scenarios.map((scenario) => [scenario.name, target(scenario)])),
    pids: () => gateway.pidsOf('gateway'),
    otherPids: () => gateway.pidsOf('control-plane'),
    stop: async () => {
      await gateway.stop();
    },
  };
}
