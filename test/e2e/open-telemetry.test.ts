import { afterAll, beforeAll, expect, it } from 'vitest';
import { echo, initialize, mcpClient } from '../support/clients/mcp-client.ts';
import { attributesAsObject, itemsOf, startFakeCollector } from '../support/fakes/fake-collector.ts';
import { type GatewayWithUpstream, startGatewayWithUpstream } from '../support/product/gateway-with-upstream.ts';
import { startSseUpstream } from '../support/tool-servers/mcp-upstream.ts';
import { until } from '../support/until.ts';
import { openaiError, reply } from '../support/upstream/fake-upstream.ts';

let collector: Awaited<ReturnType<typeof startFakeCollector>>;
let gateway: GatewayWithUpstream;
beforeAll(async () => {
  collector = await startFakeCollector();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
    TRACE_CONTEXT_TO_PROVIDERS: 'true',
  };
  gateway = await startGatewayWithUpstream({ env });
});
afterAll(async () => {
  await gateway?.close();
  await collector?.close();
});

it('one trace goes from the caller through the gateway to the provider, with a span for each attempt', async () => {
  const [trace, caller] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
  const key = await gateway.keyFor({ provider: '@oai', retry: { attempts: 1, on_status_codes: [503] } });
  gateway.upstream.once('/v1/chat/completions', openaiError(503, 'overloaded'));
  const response = await gateway.call('/chat/completions', {
    body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] },
    headers: { 'x-svc-api-key': key, traceparent: `00-${trace}-${caller}-01` },
  });
  expect(response.status).toBe(200);
  const exported = await until(async () => collector.received.find(({ path }) => path === '/v1/traces'), { what: 'the trace' });
  const [request, first, second] = itemsOf(exported) as unknown as [Span, Span, Span];
  expect(request).toMatchObject({ traceId: trace, parentSpanId: caller, kind: 2 });
  expect([first, second]).toMatchObject([
    { traceId: trace, parentSpanId: request.spanId, name: 'chat gpt-4o', kind: 3, status: { code: 2 } },
    { traceId: trace, parentSpanId: request.spanId, name: 'chat gpt-4o', kind: 3, status: {} },
  ]);
  const sent = gateway.upstream.requests.map((request) => request.header('traceparent'));
  expect(sent).toEqual([`00-${trace}-${first.spanId}-01`, `00-${trace}-${second.spanId}-01`]);
  const times = [request.startTimeUnixNano, first.startTimeUnixNano, first.endTimeUnixNano, second.startTimeUnixNano].map(Number);
  expect(times).toEqual([...times].sort());
  expect(Number(second.endTimeUnixNano)).toBeLessThanOrEqual(Number(request.endTimeUnixNano) + 1e6);
  expect(attributesAsObject(second.attributes)).toMatchObject({ 'gen_ai.usage.input_tokens': expect.any(Number) });
});

it('a trace goes on to MCP servers', async () => {
  const { admin, upstream } = gateway;
  const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'traced', version: '1' } };
  const type = { 'content-type': 'application/json' };
  upstream.once('/mcp', reply(200, JSON.stringify({ jsonrpc: '2.0', id: 1, result }), type));
  const fields = { name: 'traced', slug: 'traced', transport: 'http', auth_type: 'none', workspace_id: gateway.workspaceId };
  await admin.create('/mcp-integrations', { ...fields, url: `${upstream.origin}/mcp` });
  await admin.create('/mcp-servers', { ...fields, transport: undefined, auth_type: undefined, mcp_integration_id: 'traced' });
  const trace = '5bf92f3577b34da6a3ce929d0e0e4737';
  const response = await fetch(`${gateway.origin}/traced/mcp`, {
    method: 'POST',
    headers: {
      ...{ 'x-svc-api-key': gateway.workspaceKey, traceparent: `00-${trace}-00f067aa0ba902b7-01` },
      ...{ accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    },
    body: JSON.stringify(initialize),
  });
  expect(response.status).toBe(200);
  const spans = () => collector.received.filter(({ path }) => path === '/v1/traces').flatMap(itemsOf) as unknown as Span[];
  const isCall = ({ traceId, name }: Span) => traceId === trace && name === 'initialize';
  const call = await until(async () => spans().find(isCall), { what: 'the span of the call' });
  const sent = upstream.requests.find(({ path }) => path === '/mcp');
  expect(sent?.header('traceparent')).toBe(`00-${trace}-${call.spanId}-01`);
});

it('a trace goes on to MCP servers of the transport HTTP+SSE with each message, in a session and without one', async () => {
  const upstream = await startSseUpstream();
  const client = await mcpClient(gateway);
  await client.addServer('traced-sse', upstream.url, { transport: 'sse' });
  const traceOf = (n: number) => `6bf92f3577b34da6a3ce929d0e0e473${n}`;
  const traced = (n: number) => ({ traceparent: `00-${traceOf(n)}-00f067aa0ba902b7-01` });
  expect((await client.post('traced-sse', echo('without'), traced(1))).status).toBe(200);
  const session = await client.begin('traced-sse');
  expect((await client.post('traced-sse', echo('within'), { ...session, ...traced(2) })).status).toBe(200);
  const sent = upstream.received.flatMap((text, index) => {
    const calls = text.includes('"tools/call"');
    return calls ? [String(upstream.headers[index]?.traceparent).split('-')[1]] : [];
  });
  expect(sent).toEqual([traceOf(1), traceOf(2)]);
  await upstream.close();
});

it('every process sends its metrics under a name of its own', async () => {
  const instances = () =>
    new Set(
      collector.received
        .filter(({ path }) => path === '/v1/metrics')
        .flatMap(({ message }) => (message.resourceMetrics as { resource: { attributes: unknown } }[]) ?? [])
        .map(({ resource }) => String(attributesAsObject(resource.attributes)['service.instance.id']).split(':')[1]),
    );
  await until(async () => instances().size >= 2, { what: 'the metrics of a gateway and a control plane' });
  expect([...instances()].sort()).toEqual(['control-plane', 'gateway-0']);
});

interface Span {
  readonly traceId: string;
  readonly name: string;
  readonly spanId: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: unknown;
}
