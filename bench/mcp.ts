/**
 * Measures calls of an MCP tool and messages to an A2A agent: directly, through the bare proxy, and through the gateway with a key and a
 * record, and with a guardrail on both directions as well, for tools also with a policy. The contenders are called in turn, so that other
 * load affects all of them.
 *
 *     node bench/mcp.ts [--seconds 20] [--only tool|agent]
 */
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { startGateway } from '../test/support/product/start-gateway.ts';
import { load, preferredTool } from './load/load.ts';
import { cores, cpuMicros, end, moveToLoadCore, startServer } from './processes.ts';
import { median } from './report/statistics.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' }, only: { type: 'string', default: '' } } });
const upstream = await startServer(cores.load, new URL('./mcp/upstream.ts', import.meta.url), []);
const upstreamUrl = `http://127.0.0.1:${upstream.port}`;
const proxy = await startServer(cores.gateway, new URL('./bare-proxy.ts', import.meta.url), [upstreamUrl]);
const proxyUrl = `http://127.0.0.1:${proxy.port}`;
const gateway = await startGateway({
  prefix: cores.gateway,
  deadlineMs: 180_000,
  env: { GATEWAY_PROCESSES: '1', LOG_LEVEL: 'warn' },
});
const { admin, origin, workspaceId: workspace_id } = gateway;
const [pid] = gateway.pidsOf('gateway') as [number];
// On the core of the gateway the client would interrupt it in the middle of its writes.
for (const each of [process.pid, ...gateway.pidsOf('control-plane')]) moveToLoadCore(each);

interface Contender {
  readonly name: string;
  readonly url: URL;
  readonly pool: Pool;
  /** Process whose CPU is measured; null: none. */
  readonly pid: number | null;
}

const text = 'Which weather is expected in Aarhus tomorrow? '.repeat(8);
const shared = { 'content-type': 'application/json', 'x-svc-api-key': gateway.workspaceKey };
const kinds = {
  tool: {
    title: 'call of a tool',
    headers: {
      ...{ ...shared, accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
      ...{ 'mcp-method': 'tools/call', 'mcp-name': 'weather' },
    },
    method: 'tools/call',
    params: { name: 'weather', arguments: { text }, _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } },
    path: '/mcp',
    governed: 'key, policy, guardrail, record',
    add: addServer,
  },
  agent: {
    title: 'message to an agent',
    headers: { ...shared, accept: 'application/json', 'a2a-version': '1.0' },
    method: 'SendMessage',
    params: { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text }] } },
    path: '/a2a',
    governed: 'key, guardrail, record',
    add: addAgent,
  },
};

/** Adds a server, and returns the path for clients. */
async function addServer(slug: string, guardrail: string | null): Promise<string> {
  const fields = { name: slug, slug, url: `${upstreamUrl}/mcp`, transport: 'http', auth_type: 'none', workspace_id };
  const { id: mcp_integration_id } = await admin.create('/mcp-integrations', fields);
  const made = await admin.create('/mcp-servers', { name: slug, slug: `${slug}-server`, workspace_id, mcp_integration_id });
  if (guardrail === null) return `/${slug}-server/mcp`;
  const run_on = ['input', 'output'];
  await admin.put(`/guardrails/${guardrail}/mcp-servers`, { mcp_servers: { [String(made.id)]: { run_on } } });
  await admin.create('/policies/rate-limits', {
    ...{ workspace_id, name: 'P', target: 'mcp_tools', type: 'requests', unit: 'rpm', value: 1e9 },
    ...{ conditions: [{ key: 'mcp_server', value: `${slug}-server` }], group_by: [{ key: 'mcp_tool' }] },
  });
  return `/${slug}-server/mcp`;
}

/** Adds an agent, and returns the path for clients. */
async function addAgent(slug: string, guardrail: string | null): Promise<string> {
  const configurations = guardrail === null ? {} : { input_guardrails: [guardrail], output_guardrails: [guardrail] };
  const fields = {
    name: slug,
    slug: `${slug}-agent`,
    url: `${upstreamUrl}/a2a`,
    auth_type: 'none',
    workspace_id,
    configurations,
  };
  const { id: agent_integration_id } = await admin.create('/agent-integrations', fields);
  await admin.create('/agent-servers', { name: slug, slug, workspace_id, agent_integration_id });
  return `/v1/agent/${slug}`;
}

async function addGuardrail(): Promise<string> {
  const checks = [{ id: 'default.contains', parameters: { words: ['password', 'secret', 'token'], operator: 'none' } }];
  const saved = await admin.create('/guardrails', {
    ...{ workspace_id, name: 'G', target: 'mcp_tools', checks, actions: { deny: true } },
  });
  return String(saved.slug);
}

try {
  const guardrail = await addGuardrail();
  for (const [kind, { title, headers, method, params, path, governed, add }] of Object.entries(kinds)) {
    if (values.only !== '' && values.only !== kind) continue;
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const contender = (name: string, base: string, at: string, process: number | null): Contender => ({
      ...{ name, url: new URL(at, base), pool: new Pool(base, { connections: 1 }), pid: process },
    });
    const contenders = [
      contender('directly', upstreamUrl, path, null),
      contender('bare proxy', proxyUrl, path, proxy.child.pid as number),
      contender('gateway: key, record', origin, await add('plain', null), pid),
      contender(`gateway: ${governed}`, origin, await add('governed', guardrail), pid),
    ];
    const call = async ({ name, pool, url }: Contender): Promise<number> => {
      const startMs = performance.now();
      const reply = await pool.request({ path: url.pathname, method: 'POST', headers, body });
      const sent = await reply.body.text();
      const tookMs = performance.now() - startMs;
      if (reply.statusCode !== 200 || !sent.includes('Aarhus'))
        throw new Error(`${name}: ${reply.statusCode} ${sent.slice(0, 200)}`);
      return tookMs;
    };
    // V8 compiles while it has few calls.
    for (const { url } of contenders) await load(preferredTool(), { url: url.href, headers, body }, 8, 10);
    for (let warm = 0; warm < 1_000; warm++) for (const each of contenders) await call(each);
    await latencyOf(title, contenders, call);
    await cpuOf(`${title}, one at a time`, contenders, 10, async (each) => {
      for (let i = 0; i < 200; i++) await call(each);
      return 200;
    });
    await cpuOf(`${title}, 8 at once`, contenders, 5, async ({ url }) => {
      const { requests, errors } = await load(preferredTool(), { url: url.href, headers, body }, 8, 2);
      if (errors > 0) throw new Error(`${errors} calls failed`);
      return requests;
    });
    await Promise.all(contenders.map(({ pool }) => pool.close()));
  }
} finally {
  await gateway.stop();
  await end(upstream.child);
  await end(proxy.child);
}

/** Prints the latency that each contender adds to that of the first one. */
async function latencyOf(
  title: string,
  contenders: readonly Contender[],
  call: (each: Contender) => Promise<number>,
): Promise<void> {
  const times = contenders.map((): number[] => []);
  const endMs = performance.now() + Number(values.seconds) * 1000;
  while (performance.now() < endMs) for (const [at, own] of times.entries()) own.push(await call(contenders[at] as Contender));
  const medians = times.map(median);
  const added = medians.map((one) => one - (medians[0] as number));
  printTable(`${title}: p50 added to direct, ms`, contenders, added, 3);
}

/** Prints the CPU of each process per call. `send` returns the number of calls. The first round warms up. */
async function cpuOf(
  title: string,
  contenders: readonly Contender[],
  rounds: number,
  send: (each: Contender) => Promise<number>,
): Promise<void> {
  const spent = contenders.map((): number[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, each] of contenders.entries()) {
      if (each.pid === null) continue;
      const before = cpuMicros([each.pid]);
      const calls = await send(each);
      if (round > 0) spent[at]?.push((cpuMicros([each.pid]) - before) / calls);
    }
  }
  const means = spent.map((own) => own.reduce((sum, one) => sum + one, 0) / rounds);
  printTable(`${title}: CPU per call, µs`, contenders, means, 0);
}

function printTable(title: string, contenders: readonly Contender[], found: readonly number[], digits: number): void {
  console.log(`\n| ${title} | | ÷ bare proxy |\n| --- | --: | --: |`);
  for (const [at, { name }] of contenders.entries()) {
    const value = found[at] as number;
    if (at > 0) console.log(`| ${name} | ${value.toFixed(digits)} | ${(value / (found[1] as number)).toFixed(2)} |`);
  }
}
