/**
 * Measures calls of an MCP tool, one at a time: directly, through the bare proxy, and through the gateway with a key, and with a policy, a
 * guardrail on arguments and result, and a record as well. The contenders are called in turn, so that other load affects all of them.
 *
 *     node bench/mcp.ts [--seconds 20]
 */
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startGateway } from '../test/support/start-gateway.ts';
import { cores, cpuMicros, end, moveToLoadCore, startServer } from './processes.ts';
import { median } from './report/statistics.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' } } });
const upstream = await startServer(cores.load, new URL('./mcp/upstream.ts', import.meta.url), []);
const proxy = await startServer(cores.gateway, new URL('./bare-proxy.ts', import.meta.url), [
  `http://127.0.0.1:${upstream.port}`,
]);
const gateway = await startGateway({
  prefix: cores.gateway,
  deadlineMs: 180_000,
  env: { GATEWAY_PROCESSES: '1', LOG_LEVEL: 'warn' },
});
const { admin, workspaceKey } = gateway;
const [pid] = gateway.pidsOf('gateway') as [number];
for (const each of gateway.pidsOf('control-plane')) moveToLoadCore(each);

const text = 'Which weather is expected in Aarhus tomorrow? '.repeat(8);
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
const params = { name: 'weather', arguments: { text }, _meta: meta };
const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
const headers = {
  ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json', 'x-svc-api-key': workspaceKey },
  ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'weather' },
};

/** Adds a server, and returns the path for clients. */
async function addServer(slug: string): Promise<{ id: string; path: string }> {
  const url = `http://127.0.0.1:${upstream.port}/mcp`;
  const { workspaceId: workspace_id } = gateway;
  const fields = { name: slug, slug, url, transport: 'http', auth_type: 'none', workspace_id };
  const { id: mcp_integration_id } = await admin.create('/mcp-integrations', fields);
  const made = await admin.create('/mcp-servers', { name: slug, slug: `${slug}-server`, workspace_id, mcp_integration_id });
  return { id: String(made.id), path: `/${slug}-server/mcp` };
}

try {
  const [plain, governed] = [await addServer('plain'), await addServer('governed')];
  const checks = [{ id: 'default.contains', parameters: { words: ['password', 'secret', 'token'], operator: 'none' } }];
  const { workspaceId: workspace_id } = gateway;
  const saved = await admin.create('/guardrails', {
    workspace_id,
    name: 'G',
    target: 'mcp_tools',
    checks,
    actions: { deny: true },
  });
  const run_on = ['input', 'output'];
  await admin.put(`/guardrails/${saved.id}/mcp-servers`, { mcp_servers: { [governed.id]: { run_on } } });
  await admin.create('/policies/rate-limits', {
    ...{ workspace_id, name: 'P', target: 'mcp_tools', type: 'requests', unit: 'rpm', value: 1e9 },
    ...{ conditions: [{ key: 'mcp_server', value: 'governed-server' }], group_by: [{ key: 'mcp_tool' }] },
  });
  const contenders = [
    ['directly', new Pool(`http://127.0.0.1:${upstream.port}`, { connections: 1 }), '/mcp'],
    ['bare proxy', new Pool(`http://127.0.0.1:${proxy.port}`, { connections: 1 }), '/mcp'],
    ['gateway: key, record', new Pool(gateway.origin, { connections: 1 }), plain.path],
    ['gateway: key, policy, guardrail, record', new Pool(gateway.origin, { connections: 1 }), governed.path],
  ] as const;
  const times: number[][] = contenders.map(() => []);
  const call = async (at: number): Promise<number> => {
    const [name, pool, path] = contenders[at] as (typeof contenders)[number];
    const startMs = performance.now();
    const reply = await pool.request({ path, method: 'POST', headers, body });
    const sent = await reply.body.text();
    const tookMs = performance.now() - startMs;
    if (reply.statusCode !== 200 || !sent.includes('Aarhus'))
      throw new Error(`${name}: ${reply.statusCode} ${sent.slice(0, 200)}`);
    return tookMs;
  };
  for (let warm = 0; warm < 1_000; warm++) for (let at = 0; at < contenders.length; at++) await call(at);
  const endMs = performance.now() + Number(values.seconds) * 1000;
  while (performance.now() < endMs) for (const [at, own] of times.entries()) own.push(await call(at));
  const direct = median(times[0] as number[]);
  console.log('| call of a tool | p50 added to direct, ms | ÷ bare proxy |\n| --- | --: | --: |');
  const added = times.map((own) => median(own) - direct);
  for (const [at, [name]] of contenders.entries()) {
    if (at > 0)
      console.log(`| ${name} | ${added[at]?.toFixed(3)} | ${((added[at] as number) / (added[1] as number)).toFixed(2)} |`);
  }
  const pids = new Map([
    [1, proxy.child.pid as number],
    [2, pid],
    [3, pid],
  ]);
  const spent = new Map([...pids.keys()].map((at) => [at, 0]));
  // In turns, so that other load affects all of them.
  for (let round = 0; round < 10; round++) {
    for (const [at, own] of pids) {
      const before = cpuMicros([own]);
      for (let i = 0; i < 200; i++) await call(at);
      spent.set(at, (spent.get(at) ?? 0) + cpuMicros([own]) - before);
    }
  }
  console.log('\n| CPU per call | µs | ÷ bare proxy |\n| --- | --: | --: |');
  const ofProxy = spent.get(1) as number;
  for (const [at, micros] of spent) {
    console.log(`| ${contenders[at]?.[0]} | ${(micros / 2_000).toFixed(0)} | ${(micros / ofProxy).toFixed(2)} |`);
  }
  await Promise.all(contenders.map(([, pool]) => pool.close()));
} finally {
  await gateway.stop();
  await end(upstream.child);
  await end(proxy.child);
}
