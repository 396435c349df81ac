import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type RunningGateway, startGateway } from '../../test/support/product/start-gateway.ts';
import type { Target } from '../load/load.ts';
import { cores, moveToLoadCore } from '../processes.ts';
import type { Scenario } from '../scenarios.ts';
import { type Arena, type Contender, forwardingTargets } from './contender.ts';

/** API key and config slug of each request. */
interface Credentials {
  readonly key: string;
  readonly config: string;
}

/**
 * The same without anything that can be left out: no saved config, no stored credential, no limit, no bodies, no OTLP. The request names the
 * provider and its credential. The API key and the record of the call always exist.
 */
export async function startNone(arena: Arena): Promise<Contender> {
  const gateway = await startProduct();
  const headers = {
    'x-svc-api-key': gateway.workspaceKey,
    ...{ 'x-svc-provider': 'openai', 'x-svc-custom-host': `${arena.upstreamOrigin}/v1`, authorization: 'Bearer sk-upstream' },
  };
  const { plain, stream } = forwardingTargets(arena, gateway.baseUrl, headers);
  return {
    name: 'none',
    title: 'this gateway: key and record only, provider in headers',
    targets: { ...(plain ? { plain } : {}), ...(stream ? { stream } : {}) },
    ...processesOf(gateway),
    stop: async () => {
      await gateway.stop();
    },
  };
}

/**
 * The product as a user starts it, with one gateway process: API key, saved config, provider with a sealed credential, record and
 * metrics on. The control plane shares the load core, because it is outside the request path.
 */
export async function startOurs(arena: Arena): Promise<Contender> {
  const gateway = await startProduct();
  const provider = await gateway.admin.createUpstream('bench', `${arena.upstreamOrigin}/v1`);
  const plain = await gateway.admin.createConfig({ provider });
  const cached = await gateway.admin.createConfig({ provider, cache: { mode: 'simple' } });
  const limited = await gateway.admin.createKey(limits);
  return {
    name: 'ours',
    title: 'this gateway: key, saved config, record, metrics',
    targets: targetsOf(arena, gateway, ({ name }) => ({
      key: name === 'limited' ? limited.key : gateway.workspaceKey,
      config: name === 'cached' ? cached : plain,
    })),
    ...processesOf(gateway),
    stop: async () => {
      await gateway.stop();
    },
  };
}

/**
 * The same with everything that records and governs a call: a key with a rate limit and a budget, a rate policy and a usage policy
 * that match, stored bodies, and traces and metrics to an OTLP collector.
 */
export async function startFull(arena: Arena): Promise<Contender> {
  const collector = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  const { port } = collector.address() as AddressInfo;
  const gateway = await startProduct({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, LOG_BODIES: 'database' });
  const provider = await gateway.admin.createUpstream('bench', `${arena.upstreamOrigin}/v1`);
  const config = await gateway.admin.createConfig({ provider });
  const { key } = await gateway.admin.createKey(limits);
  const policy = { conditions: [{ key: 'workspace_id', value: gateway.workspaceId }], group_by: [{ key: 'api_key' }] };
  await gateway.admin.create('/policies/rate-limits', { ...policy, type: 'requests', unit: 'rpm', value: 1e9 });
  await gateway.admin.create('/policies/usage-limits', { ...policy, type: 'tokens', credit_limit: 1e12 });
  return {
    name: 'full',
    title: 'this gateway: also a rate limit, a budget, two policies, stored bodies, OTLP',
    targets: targetsOf(arena, gateway, ({ name }) => (name === 'plain' || name === 'stream' ? { key, config } : null)),
    ...processesOf(gateway),
    stop: async () => {
      await gateway.stop();
      collector.close();
    },
  };
}

const limits = {
  rate_limits: [{ type: 'requests', unit: 'rpm', value: 1e9 }],
  usage_limits: { type: 'tokens', credit_limit: 1e12, periodic_reset: 'monthly' },
};

async function startProduct(env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  const gateway = await startGateway({
    sourceDir: fileURLToPath(new URL('../..', import.meta.url)),
    prefix: cores.gateway,
    env: { GATEWAY_PROCESSES: '1', LOG_LEVEL: 'warn', ...env },
  });
  for (const pid of gateway.pidsOf('control-plane')) moveToLoadCore(pid);
  return gateway;
}

function processesOf(gateway: RunningGateway): Pick<Contender, 'pids' | 'otherPids'> {
  return { pids: () => gateway.pidsOf('gateway'), otherPids: () => gateway.pidsOf('control-plane') };
}

/** The targets of the scenarios for which `credentialsOf` returns something. */
function targetsOf(
  arena: Arena,
  gateway: RunningGateway,
  credentialsOf: (scenario: Scenario) => Credentials | null,
): Contender['targets'] {
  const targets: Partial<Record<Scenario['name'], Target>> = {};
  for (const scenario of arena.scenarios) {
    const credentials = credentialsOf(scenario);
    if (credentials === null) continue;
    targets[scenario.name] = {
      url: gateway.baseUrl + scenario.path,
      headers: {
        'content-type': scenario.contentType,
        'x-svc-api-key': credentials.key,
        'x-svc-config': credentials.config,
      },
      body: scenario.body,
    };
  }
  return targets;
}
