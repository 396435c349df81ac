import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { callTool, mcpClient } from '../../support/clients/mcp-client.ts';
import { type SharedGatewayWithUpstream, shareGatewayWithUpstream } from '../../support/product/gateway-with-upstream.ts';
import { type ListedToolsServer, startListedTools } from '../../support/tool-servers/listed-tools-server.ts';
import { until } from '../../support/until.ts';
import { openaiError, reply, stallBeforeHead } from '../../support/upstream/fake-upstream.ts';
import { replyLikeAProvider } from '../../support/upstream/provider-replies.ts';

/** Models that call tools of MCP servers through the gateway, with the official SDKs. */
let gateway: SharedGatewayWithUpstream;
let server: ListedToolsServer;
let client: Awaited<ReturnType<typeof mcpClient>>;

const beta = { 'x-svc-beta': 'server-side-mcp-2026-06-01' };
const cityOnly = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = (name: string) => ({ name, description: 'Current weather', inputSchema: cityOnly });

beforeAll(async () => {
  [gateway, server] = await Promise.all([shareGatewayWithUpstream(), startListedTools([weather('weather')])]);
  client = await mcpClient(gateway);
  await client.addServer('city', server.url);
});
beforeEach(() => {
  gateway.upstream.reset();
  server.received.length = 0;
});
afterAll(() => Promise.all([gateway?.close(), server?.close()]));

const responsesBody = (more: JsonObject = {}) => ({
  ...{ model: '@oai/gpt-5', input: 'How is the weather in Ulm?' },
  tools: [{ type: 'mcp', server_label: '@svc-mcp/city', server_url: 'https://ignored.example.com', require_approval: 'never' }],
  ...more,
});
const messagesBody = (more: JsonObject = {}) => ({
  ...{ model: '@ant/claude-test', max_tokens: 100, messages: [{ role: 'user' as const, content: 'How is the weather in Ulm?' }] },
  mcp_servers: [{ type: 'url', url: 'https://ignored.example.com', name: '@svc-mcp/city' }],
  tools: [{ type: 'mcp_toolset', mcp_server_name: '@svc-mcp/city' }],
  ...more,
});
const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const sent = await gateway.call(path, { body: body as JsonObject, headers: { ...beta, ...headers } });
  return { status: sent.status, headers: sent.headers, body: await sent.json() };
};
const toolCalls = () => server.received.filter(({ method }) => method === 'tools/call').map(({ params }) => params);

describe('tools of an MCP server', () => {
  it.each(['@oai/gpt-5', '@ant/claude-test'])(
    'are called for Responses of %s, and the model receives the result',
    async (model) => {
      const { status, body } = await post('/responses', responsesBody({ model }));
      expect(status, JSON.stringify(body)).toBe(200);
      expect(toolCalls()).toMatchObject([{ name: 'weather', arguments: { city: expect.any(String) } }]);
      expect(body.output).toMatchObject([
        { type: 'mcp_call', server_label: '@svc-mcp/city', name: 'weather', status: 'completed', error: null },
        { type: 'message', content: [{ type: 'output_text' }] },
      ]);
      expect(body.output[0].output).toContain('"name":"weather"');
      expect(gateway.upstream.requests).toHaveLength(2);
      const [first, second] = gateway.upstream.requests.map((request) => request.json() as JsonObject);
      expect(JSON.stringify(first?.tools)).toContain('city__weather');
      expect(JSON.stringify(first)).not.toContain('svc-mcp');
      expect(JSON.stringify(second)).toContain('\\"name\\":\\"weather\\"');
      const usages = body.usage.input_tokens;
      expect(usages).toBeGreaterThan(0);
    },
  );

  it.each(['@ant/claude-test', '@oai/gpt-5'])('are called for Messages of %s', async (model) => {
    const { status, body } = await post('/messages', messagesBody({ model }));
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ stop_reason: 'end_turn' });
    expect(body.content).toMatchObject([
      { type: 'mcp_tool_use', server_name: '@svc-mcp/city', name: 'weather', input: { city: expect.any(String) } },
      { type: 'mcp_tool_result', is_error: false, content: [{ type: 'text' }] },
      { type: 'text' },
    ]);
    expect(toolCalls()).toHaveLength(1);
  });

  it.each(['@oai/gpt-5', '@ant/claude-test'])('are called in a stream of Responses of %s', async (model) => {
    const openai = new OpenAI({ apiKey: gateway.workspaceKey, baseURL: gateway.baseUrl, defaultHeaders: beta, maxRetries: 0 });
    const types: string[] = [];
    const sequences: number[] = [];
    const stream = openai.responses.stream(responsesBody({ model }) as never);
    for await (const event of stream) {
      types.push(event.type);
      if ('response' in event) expect(JSON.stringify(event.response.tools ?? [])).not.toContain('city__weather');
      sequences.push((event as unknown as { sequence_number: number }).sequence_number);
    }
    const final = await stream.finalResponse();
    expect(final.output).toMatchObject([{ type: 'mcp_call', name: 'weather', status: 'completed' }, { type: 'message' }]);
    expect(types.filter((type) => type === 'response.created' || type === 'response.completed')).toEqual([
      'response.created',
      'response.completed',
    ]);
    expect(types).toContain('response.mcp_call_arguments.done');
    expect(types).toContain('response.mcp_call.completed');
    expect(types).toContain('response.output_text.delta');
    expect(types.join()).not.toContain('function_call');
    expect(sequences).toEqual(sequences.map((_, index) => index));
  });

  it.each(['@ant/claude-test', '@oai/gpt-5'])('are called in a stream of Messages of %s', async (model) => {
    const anthropic = new Anthropic({ apiKey: 'unused', baseURL: gateway.origin, maxRetries: 0 });
    const headers = { ...beta, 'x-svc-api-key': gateway.workspaceKey, 'x-api-key': null };
    const stream = anthropic.beta.messages.stream(messagesBody({ model }) as never, { headers });
    const final = await stream.finalMessage();
    expect(final.content).toMatchObject([{ type: 'mcp_tool_use' }, { type: 'mcp_tool_result' }, { type: 'text' }]);
    expect(final.stop_reason).toBe('end_turn');
    expect(toolCalls()).toHaveLength(1);
  });

  it('leave a record for each call of the model and of a tool, with one trace', async () => {
    const { headers } = await post('/responses', responsesBody(), { 'x-svc-trace-id': 'trace-of-tools' });
    expect(headers.get('x-svc-trace-id')).toBe('trace-of-tools');
    const logs = await until(
      async () => {
        const { body } = await gateway.admin.get('/logs?trace_id=trace-of-tools&page_size=50');
        return body.data?.length === 4 && body.data;
      },
      { what: 'four records' },
    );
    expect(logs).toHaveLength(4);
  });
});

/** The records of a trace. */
const logsOf = (trace: string, count: number): Promise<JsonObject[]> =>
  until(
    async () => {
      const { body } = await gateway.admin.get(`/logs?trace_id=${trace}&page_size=50`);
      return body.data?.length === count && body.data;
    },
    { what: `${count} records of ${trace}` },
  );
const mcpLogs = async (trace: string, count: number) =>
  (await logsOf(trace, count)).flatMap(({ mcp }) => (mcp ? [mcp as JsonObject] : []));

const functionCall = (name: string, id: string) => ({
  ...{ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name, arguments: '{"city":"Ulm"}', status: 'completed' },
});
const replyWith = (output: object[], usage = { input_tokens: 5, output_tokens: 2 }) =>
  reply(200, { ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'gpt-5', output }, usage });
const sentToModel = () => gateway.upstream.requests.map((request) => request.json() as JsonObject);

describe('a request with tools of an MCP server', () => {
  it('ends with an error that names the field if the tools cannot be listed, and calls no model', async () => {
    const label = (server_label: string) =>
      responsesBody({
        tools: [
          { type: 'function', name: 'own' },
          { type: 'mcp', server_label },
        ],
      });
    const { key } = await gateway.admin.createKey({ scopes: ['completions.write'] });
    const denied = await post('/responses', responsesBody(), { 'x-svc-api-key': key });
    const invalid = await post('/responses', responsesBody(), { 'x-svc-api-key': 'svc_none' });
    const replies = [
      await post('/responses', label('@svc-mcp/unknown')),
      await post('/responses', label('@svc-mcp/a/b')),
      denied,
      invalid,
    ];
    const ends = replies.map(({ status, body }) => `${status} ${body.error.name}`);
    expect(ends).toEqual(['404 not_found', '400 bad_request', '403 forbidden', '401 invalid_api_key']);
    expect(replies.map(({ body }) => body.error.message)).toEqual([
      expect.stringMatching(/^tools\[1\]: the tools of the MCP server 'unknown' could not be listed: Server 'unknown' not found/),
      expect.stringMatching(/^tools\[1\]\.server_label: expected @svc-mcp\//),
      ...Array(2).fill(expect.stringMatching(/^Svc Error: tools\[0\]: the tools of the MCP server 'city' could not be listed: /)),
    ]);
    const background = await post('/responses', responsesBody({ background: true }));
    expect([background.status, background.body.error.param]).toEqual([400, 'background']);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it('passes unchanged without the header or without a server of the gateway', async () => {
    const passed = await gateway.call('/responses', { body: responsesBody() });
    expect(passed.status).toBe(200);
    expect(sentToModel()[0]?.tools).toMatchObject([{ type: 'mcp', server_label: '@svc-mcp/city' }]);
    expect((await post('/responses', { model: '@oai/gpt-5', input: 'hi' })).status).toBe(200);
    expect((await post('/responses', { model: 7 })).status).toBe(400);
    expect(server.received).toHaveLength(0);
  });

  it('sends failures of tools to the model', async () => {
    server.callError = { code: -32000, message: 'The weather is broken' };
    const { body } = await post('/responses', responsesBody());
    server.callError = null;
    expect(body.output[0]).toMatchObject({ type: 'mcp_call', status: 'failed', error: 'The weather is broken', output: null });
    expect(sentToModel()[1]?.input).toMatchObject([{}, {}, { type: 'function_call_output', output: 'The weather is broken' }]);
  });

  it('calls only tools that the request allows, and forces a call in the first round only', async () => {
    server.tools = [weather('weather'), weather('storm')];
    const tool = { type: 'mcp', server_label: '@svc-mcp/city', allowed_tools: ['storm'] };
    const choice = { type: 'mcp', server_label: '@svc-mcp/city', name: 'storm' };
    await post('/responses', responsesBody({ tools: [tool], tool_choice: choice }));
    const toolset = {
      type: 'mcp_toolset',
      mcp_server_name: '@svc-mcp/city',
      default_config: { enabled: false },
      configs: { storm: { enabled: true } },
    };
    await post('/messages', messagesBody({ tools: [toolset], tool_choice: { type: 'any' } }));
    server.tools = [weather('weather')];
    expect(toolCalls().map(({ name }) => name)).toEqual(['storm', 'storm']);
    expect(sentToModel().map(({ tool_choice }) => tool_choice)).toEqual([
      { type: 'function', name: 'city__storm' },
      'auto',
      { type: 'any' },
      { type: 'auto' },
    ]);
  });

  it('ends after the last round, in which the model may call no tool', async () => {
    gateway.upstream.always(replyWith([functionCall('city__weather', 'a')]));
    const { body } = await post('/responses', responsesBody());
    expect(gateway.upstream.requests).toHaveLength(10);
    expect(sentToModel().map(({ tool_choice }) => tool_choice)).toEqual([undefined, ...Array(8).fill(undefined), 'none']);
    expect(body.output.at(-1)).toMatchObject({ type: 'mcp_call', status: 'failed', error: expect.stringContaining('limit') });
    expect(toolCalls()).toHaveLength(9);
    expect(body.usage).toMatchObject({ input_tokens: 50, output_tokens: 20 });
  });

  it('returns calls of tools of the client, and continues with their results', async () => {
    gateway.upstream.once('/v1/responses', replyWith([functionCall('city__weather', 'a'), functionCall('own', 'b')]));
    const own = { type: 'function', name: 'own', parameters: { type: 'object', properties: {} } };
    const tools = [...responsesBody().tools, own];
    const first = await post('/responses', responsesBody({ tools }));
    expect(first.body.output).toMatchObject([
      { type: 'mcp_call', id: 'call_a' },
      { type: 'function_call', name: 'own' },
    ]);
    const result = { type: 'function_call_output', call_id: 'call_b', output: 'done' };
    const second = await post('/responses', responsesBody({ tools, input: [...first.body.output, result] }));
    expect(second.status).toBe(200);
    expect(sentToModel()[1]?.input).toMatchObject([
      { type: 'function_call', call_id: 'call_a', name: 'city__weather' },
      { type: 'function_call_output', call_id: 'call_a', output: expect.stringContaining('weather') },
      { type: 'function_call', call_id: 'call_b', name: 'own' },
      result,
    ]);

    const before = await post('/messages', messagesBody());
    gateway.upstream.reset();
    const messages = [
      ...messagesBody().messages,
      { role: 'assistant', content: before.body.content },
      { role: 'user', content: 'Thanks' },
    ];
    expect((await post('/messages', messagesBody({ messages }))).status).toBe(200);
    expect(sentToModel()[0]?.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use', name: 'city__weather' }] },
      { role: 'user', content: [{ type: 'tool_result' }] },
      { role: 'assistant', content: [{ type: 'text' }] },
      { role: 'user', content: 'Thanks' },
    ]);
  });

  it('ends a stream with an error event if a later call of the model fails', async () => {
    gateway.upstream.always(openaiError(400, 'Too long'));
    gateway.upstream.once('/v1/responses', replyLikeAProvider);
    const streamed = await gateway.call('/responses', { body: responsesBody({ stream: true }), headers: beta });
    const text = await streamed.text();
    expect(text.trim().split('\n\n').at(-1)).toMatch(/^event: error\ndata: .*The model replied with status 400.*Too long/);
    expect(text).not.toContain('response.completed');
  });

  it('ends all calls when the client disconnects', async () => {
    const held = stallBeforeHead();
    gateway.upstream.always(held);
    const leaving = new AbortController();
    const sent = gateway.call('/responses', { body: responsesBody(), headers: beta, signal: leaving.signal });
    const { request } = await held.reached;
    leaving.abort();
    await expect(sent).rejects.toThrow(/abort/);
    expect(await request.closed).toBe('client-left');
    held.release();
    expect(toolCalls()).toHaveLength(0);
  });

  it.each(['input', 'output'])(
    'gives a denial by a guardrail on the %s of a tool to the model, and leaves its record',
    async (side) => {
      const slug = `guarded-${side}`;
      const added = await client.addServer(slug, server.url);
      const guardrail = await gateway.admin.create('/guardrails', {
        ...{ workspace_id: gateway.workspaceId, name: 'Tools', target: 'mcp_tools', actions: { deny: true } },
        checks: [{ id: 'default.contains', parameters: { words: ['city'], operator: 'none' } }],
      });
      await gateway.admin.put(`/guardrails/${guardrail.id}/mcp-servers`, {
        mcp_servers: { [added.server]: { run_on: [side], mcp_integration_capability_ids: [] } },
      });
      await until(async () => (await client.post(slug, callTool('weather', { city: 'Ulm' }))).text.includes('-32446'), {
        what: 'the guardrail',
      });
      server.received.length = 0;
      const sent = responsesBody({ tools: [{ type: 'mcp', server_label: `@svc-mcp/${slug}` }] });
      const { status, body } = await post('/responses', sent, { 'x-svc-trace-id': `trace-${slug}` });
      expect(status, JSON.stringify(body)).toBe(200);
      expect(body.output[0]).toMatchObject({
        type: 'mcp_call',
        status: 'failed',
        error: expect.stringMatching(/^Request blocked by guardrail/),
        output: null,
      });
      expect(toolCalls()).toHaveLength(side === 'input' ? 0 : 1);
      expect(JSON.stringify(sentToModel()[1])).toContain('Request blocked by guardrail');
      expect(JSON.stringify(sentToModel()[1])).not.toContain('"arguments\\":{\\"city');
      expect((await mcpLogs(`trace-${slug}`, 4)).map(({ method, error_code }) => [method, error_code])).toContainEqual([
        'tools/call',
        -32446,
      ]);
    },
  );

  it.each(['plain', 'streamed'])('ends with the error of a budget that is exhausted between two rounds, %s', async (form) => {
    const trace = `trace-budget-${form}`;
    const { key } = await gateway.admin.createKey({
      scopes: ['completions.write', 'mcp.invoke'],
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 2 }],
    });
    const headers = { 'x-svc-api-key': key, 'x-svc-trace-id': trace };
    if (form === 'plain') {
      const { status, body } = await post('/responses', responsesBody(), headers);
      expect([status, body.error.message]).toEqual([429, expect.stringContaining('limit')]);
    } else {
      const streamed = await gateway.call('/responses', {
        body: responsesBody({ stream: true }),
        headers: { ...beta, ...headers },
      });
      expect((await streamed.text()).trim().split('\n\n').at(-1)).toMatch(/^event: error\ndata: .*429/);
    }
    expect(gateway.upstream.requests).toHaveLength(1);
    expect((await logsOf(trace, 4)).map((log) => (log.response as JsonObject).status).sort()).toEqual([200, 200, 429, 429]);
  });

  it('ends with the error of a cost budget that the first call of the model has used up', async () => {
    const trace = 'trace-cost';
    const { key } = await gateway.admin.createKey({
      scopes: ['completions.write', 'mcp.invoke'],
      usage_limits: { type: 'cost', credit_limit: 1 },
    });
    // 10 US dollars per million tokens of output.
    gateway.upstream.always(replyWith([functionCall('city__weather', 'a')], { input_tokens: 5, output_tokens: 150_000 }));
    const body = responsesBody({ model: '@oai/gpt-4o', max_output_tokens: 100 });
    const refused = await post('/responses', body, { 'x-svc-api-key': key, 'x-svc-trace-id': trace });
    expect([refused.status, refused.body.error.code]).toEqual([412, '04']);
    expect([gateway.upstream.requests.length, toolCalls().length]).toEqual([1, 1]);
    const logs = await logsOf(trace, 4);
    expect(logs.map((log) => (log.response as JsonObject).status).sort()).toEqual([200, 200, 200, 412]);
  });

  it('ends the call of a tool when the client disconnects, with a record', async () => {
    const arrived = server.holdCall();
    const leaving = new AbortController();
    const headers = { ...beta, 'x-svc-trace-id': 'trace-left' };
    const sent = gateway.call('/responses', { body: responsesBody(), headers, signal: leaving.signal });
    const { closed } = await arrived;
    leaving.abort();
    await expect(sent).rejects.toThrow(/abort/);
    await closed;
    expect(gateway.upstream.requests).toHaveLength(1);
    const logs = await logsOf('trace-left', 3);
    expect(logs.map((log) => (log.response as JsonObject).status).sort()).toEqual([200, 200, 499]);
  });

  it.each([
    [
      '/responses',
      responsesBody({ tools: [{ type: 'mcp', server_label: 'x', server_url: '@svc-mcp/city' }] }),
      'tools[0].server_url',
      'server_label',
    ],
    [
      '/messages',
      messagesBody({ mcp_servers: [{ type: 'url', name: 'x', url: '@svc-mcp/city' }], tools: [] }),
      'mcp_servers[0].url',
      'name',
    ],
  ])('to %s with a server of the gateway as URL is refused, and the error names the field', async (path, body, field, right) => {
    const refused = await post(path, body);
    expect([refused.status, refused.body.error.message]).toEqual([
      400,
      `${field}: a URL is expected. Send @svc-mcp/ and the slug of an MCP server in ${right}`,
    ]);
    expect(gateway.upstream.requests).toHaveLength(0);
  });

  it('returns the reply of a model that fails', async () => {
    gateway.upstream.always(openaiError(400, 'Too long'));
    const { status, body } = await post('/responses', responsesBody());
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('Too long')]);
  });
});
