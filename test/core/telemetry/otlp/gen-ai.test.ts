import { expect, it } from 'vitest';
import type { RequestRecord } from '../../../../core/contract/plugin/record/record.ts';
import { contentAttributes } from '../../../../core/telemetry/otlp/content-attributes.ts';
import { genAi, genAiMetrics } from '../../../../core/telemetry/otlp/gen-ai.ts';
import { GenAiMetrics } from '../../../../core/telemetry/otlp/gen-ai-metrics.ts';
import { requestSpans } from '../../../../core/telemetry/otlp/request-spans.ts';
import { attributesAsObject } from '../../../support/fakes/fake-collector.ts';
import { sampleRecord } from '../../../support/samples/sample-record.ts';

const surroundings = { providerName: (provider: string) => provider, scheme: 'https' } as const;

/** Attributes and client metrics of model/gen-ai in version 1.41.1 of the conventions. */
const known = `
  gen_ai.operation.name gen_ai.provider.name gen_ai.request.model gen_ai.request.stream gen_ai.output.type gen_ai.usage.input_tokens
  gen_ai.usage.output_tokens gen_ai.usage.cache_read.input_tokens gen_ai.usage.cache_creation.input_tokens
  gen_ai.usage.reasoning.output_tokens gen_ai.response.time_to_first_chunk gen_ai.token.type gen_ai.request.max_tokens
  gen_ai.request.temperature gen_ai.request.top_p gen_ai.request.top_k gen_ai.request.stop_sequences gen_ai.request.frequency_penalty
  gen_ai.request.presence_penalty gen_ai.request.seed gen_ai.request.choice.count gen_ai.request.encoding_formats
  gen_ai.embeddings.dimension.count gen_ai.response.id gen_ai.response.model gen_ai.response.finish_reasons gen_ai.system_instructions
  gen_ai.input.messages gen_ai.output.messages gen_ai.tool.definitions gen_ai.conversation.id gen_ai.agent.id gen_ai.agent.name
  gen_ai.agent.description gen_ai.agent.version gen_ai.tool.name gen_ai.tool.call.id gen_ai.tool.description gen_ai.tool.type
  gen_ai.tool.call.arguments gen_ai.tool.call.result gen_ai.data_source.id gen_ai.retrieval.documents gen_ai.retrieval.query.text
  gen_ai.prompt.name gen_ai.workflow.name gen_ai.client.token.usage gen_ai.client.operation.duration
  gen_ai.client.operation.time_to_first_chunk gen_ai.client.operation.time_per_output_chunk`
  .trim()
  .split(/\s+/);

it('names: every attribute and metric is one of the conventions', () => {
  const used = [...Object.values(genAi), ...Object.values(genAiMetrics).map(({ name }) => name)];
  expect(used.filter((name) => !known.includes(name))).toEqual([]);
});

const side = (body: unknown) => ({ headers: {}, body, omitted: null });
const attributes = (request: unknown, response: unknown, charsMax = 10_000) =>
  attributesAsObject(contentAttributes({ request: side(request), response: side(response) }, charsMax));
const parsed = (text: unknown) => JSON.parse(String(text)) as unknown;
const user = { role: 'user', parts: [{ type: 'text', content: 'Hi' }] };

it.each([
  [
    'chat completions',
    {
      messages: [
        { role: 'system', content: 'Be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'image_url', image_url: { url: 'data:x' } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: '7' },
      ],
    },
    { choices: [{ message: { role: 'assistant', content: 'Seven' }, finish_reason: 'tool_calls' }] },
    [
      { role: 'system', parts: [{ type: 'text', content: 'Be brief' }] },
      { role: 'user', parts: [{ type: 'text', content: 'Hi' }, { type: 'image_url' }] },
      { role: 'assistant', parts: [{ type: 'tool_call', id: 'c1', name: 'f', arguments: '{}' }] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: '7' }] },
    ],
    [{ role: 'assistant', parts: [{ type: 'text', content: 'Seven' }], finish_reason: 'tool_call' }],
  ],
  [
    'Messages',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: '7' }] }] },
    {
      content: [
        { type: 'thinking', thinking: 'Hm' },
        { type: 'tool_use', id: 't', name: 'f', input: {} },
      ],
      stop_reason: 'max_tokens',
    },
    [{ role: 'user', parts: [{ type: 'tool_call_response', id: 't', response: '7' }] }],
    [
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Hm' },
          { type: 'tool_call', id: 't', name: 'f', arguments: {} },
        ],
        finish_reason: 'length',
      },
    ],
  ],
  [
    'Responses',
    { input: ['Hi', { type: 'function_call_output', call_id: 'c', output: '7' }] },
    { output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Seven' }] }] },
    [user, { role: 'user', parts: [{ type: 'tool_call_response', id: 'c', response: '7' }] }],
    [{ role: 'assistant', parts: [{ type: 'text', content: 'Seven' }], finish_reason: 'stop' }],
  ],
  [
    'Responses with custom tools',
    {
      input: [
        { type: 'custom_tool_call', call_id: 'c', name: 'g', input: 'a' },
        { type: 'custom_tool_call_output', call_id: 'c', output: '7' },
      ],
    },
    { output: [{ type: 'custom_tool_call', call_id: 'd', name: 'g', input: 'b' }] },
    [
      { role: 'user', parts: [{ type: 'tool_call', id: 'c', name: 'g', arguments: 'a' }] },
      { role: 'user', parts: [{ type: 'tool_call_response', id: 'c', response: '7' }] },
    ],
    [{ role: 'assistant', parts: [{ type: 'tool_call', id: 'd', name: 'g', arguments: 'b' }], finish_reason: 'stop' }],
  ],
  [
    'chat with custom tools',
    { messages: [{ role: 'user', content: 'Hi' }] },
    {
      choices: [
        {
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'd', type: 'custom', custom: { name: 'g', input: 'b' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
    [user],
    [{ role: 'assistant', parts: [{ type: 'tool_call', id: 'd', name: 'g', arguments: 'b' }], finish_reason: 'tool_call' }],
  ],
  [
    'completions',
    { prompt: 'Hi' },
    { choices: [{ text: 'Ho', finish_reason: 'length' }] },
    [user],
    [{ role: 'assistant', parts: [{ type: 'text', content: 'Ho' }], finish_reason: 'length' }],
  ],
])('content: messages of %s have the form of the conventions', (_, request, response, input, output) => {
  const found = attributes(request, response);
  expect(parsed(found[genAi.inputMessages])).toEqual(input);
  expect(parsed(found[genAi.outputMessages])).toEqual(output);
});

it('content: parameters, instructions, tools and the response are named; wrong types are left out', () => {
  const request = {
    system: 'Brief',
    max_tokens: 5,
    temperature: 1,
    top_p: 'x',
    stop: 'END',
    seed: 3,
    n: 2,
    tools: [{ name: 'f' }],
  };
  expect(attributes(request, { id: 'r1', model: 'm-1', stop_reason: 'end_turn' })).toEqual({
    'gen_ai.request.max_tokens': 5,
    'gen_ai.request.temperature': 1,
    'gen_ai.request.stop_sequences': ['END'],
    'gen_ai.request.seed': 3,
    'gen_ai.request.choice.count': 2,
    'gen_ai.response.id': 'r1',
    'gen_ai.response.model': 'm-1',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.system_instructions': '[{"type":"text","content":"Brief"}]',
    'gen_ai.tool.definitions': '[{"name":"f"}]',
  });
  expect(attributes('a form', null)).toEqual({});
});

it('content: half a surrogate pair, which strict collectors reject with its batch, is neither sent nor made by a cut', () => {
  const request = { stop: ['a\ud83d', `${'x'.repeat(199)}😀`] };
  expect(attributes(request, { id: 'r\udc00' })).toMatchObject({
    'gen_ai.request.stop_sequences': ['a\ufffd', 'x'.repeat(199)],
    'gen_ai.response.id': 'r\ufffd',
  });
  const long = { messages: [{ role: 'user', content: '😀'.repeat(200) }] };
  for (const charsMax of [101, 102, 103, 104]) {
    expect(attributes(long, {}, charsMax)['gen_ai.input.messages']).not.toContain('\\ud83d');
  }
});

it('content: is bounded; the oldest messages go first, then the ends of texts', () => {
  const long = (chars: number) => ({ role: 'user', content: 'x'.repeat(chars) });
  const inputOf = (messages: object[]) => String(attributes({ messages }, {}, 300)[genAi.inputMessages]);
  const few = parsed(inputOf([long(500), long(100), { role: 'user', content: 'Hi' }])) as { parts: { content: string }[] }[];
  expect(few.map(({ parts }) => parts[0]?.content.length)).toEqual([100, 2]);
  const cut = inputOf([long(100), long(5_000)]);
  expect(cut.length).toBeLessThanOrEqual(300);
  expect(parsed(cut)).toMatchObject([{ parts: [{ content: expect.stringMatching(/^x{100,}$/) }] }]);
});

const metricsOf = (series: GenAiMetrics) => new Map(series.metrics('1', '2').map((metric) => [metric.name, metric]));

it('metrics: one operation per attempt, tokens for the last one, with the units and buckets of the conventions', () => {
  const series = new GenAiMetrics((provider) => `p.${provider}`, 10);
  const [attempt] = sampleRecord({}).attempts;
  const failed = {
    ...attempt,
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    status: 503,
    errorCode: 'upstream_status',
    durationMs: 50,
  } as never;
  const ok = { ...attempt, provider: 'openai', status: 200, errorCode: null, startMs: 100, durationMs: 1_000 } as never;
  series.observe(sampleRecord({ attempts: [failed, ok], stream: true, firstByteMs: 400, inputTokens: 20, cacheReadTokens: 10 }));
  series.observe(sampleRecord({ attempts: [] }));
  const found = metricsOf(series);
  const points = (name: string) =>
    (found.get(name)?.histogram?.dataPoints ?? []).map(({ attributes, sum, count }) => ({
      ...attributesAsObject(attributes),
      sum,
      count,
    }));
  const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'gpt-4o-mini', count: '1' };
  expect(points('gen_ai.client.operation.duration')).toEqual([
    {
      ...chat,
      ...{ 'gen_ai.provider.name': 'p.anthropic', 'gen_ai.request.model': 'claude-sonnet-4-5' },
      ...{ 'error.type': 'upstream_status', sum: 0.05 },
    },
    { ...chat, 'gen_ai.provider.name': 'p.openai', sum: 1 },
  ]);
  expect(points('gen_ai.client.operation.time_to_first_chunk')).toMatchObject([{ sum: 0.3 }]);
  expect(points('gen_ai.client.token.usage')).toMatchObject([
    { 'gen_ai.token.type': 'input', sum: 30 },
    { 'gen_ai.token.type': 'output', sum: 45 },
  ]);
  const [tokens] = found.get('gen_ai.client.token.usage')?.histogram?.dataPoints ?? [];
  expect(found.get('gen_ai.client.token.usage')?.unit).toBe('{token}');
  expect(tokens?.bucketCounts.indexOf('1')).toBe(3);
  expect(tokens?.bucketCounts).toHaveLength(15);
});

it('metrics: models beyond the maximum of series count as other, and none is lost', () => {
  const series = new GenAiMetrics((provider) => provider, 5);
  for (let i = 0; i < 100; i++) series.observe(sampleRecord({ model: `model-${i}` }));
  const points = metricsOf(series).get('gen_ai.client.operation.duration')?.histogram?.dataPoints ?? [];
  expect(points).toHaveLength(6);
  expect(points.reduce((sum, { count }) => sum + Number(count), 0)).toBe(100);
});

it.each([
  [
    { method: 'tools/call', name: 'search', isToolError: true },
    'tools/call search',
    { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'search', 'error.type': 'tool_error' },
  ],
  [
    { method: 'resources/read', name: 'file:///a', errorCode: -32002 },
    'resources/read',
    { 'mcp.resource.uri': 'file:///a', 'rpc.response.status_code': '-32002', 'error.type': '-32002' },
  ],
  [{ method: 'prompts/get', name: 'greet' }, 'prompts/get greet', { 'gen_ai.prompt.name': 'greet' }],
])('spans of MCP: %j is named %s and has no provider of models', (changes, name, wanted) => {
  const [attempt] = sampleRecord({}).attempts;
  const call = {
    serverId: 's',
    server: 'files',
    integrationId: 'i',
    via: null,
    transport: 'http',
    revision: '2025-11-25',
    ...changes,
  };
  const rest = {
    callerAuth: 'api_key',
    upstreamAuth: 'none',
    errorCode: null,
    isToolError: false,
    isCredentialRenewed: false,
  } as const;
  const tokens = { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 0 };
  const attempts = [{ ...attempt, provider: 'mcp', status: 200, errorCode: null } as never];
  const record = sampleRecord({ endpoint: 'mcp', model: null, attempts, ...tokens, mcp: { ...rest, ...call } });
  const [, span] = requestSpans({ record, costNanoUsd: null }, surroundings);
  expect(span?.name).toBe(name);
  const found = attributesAsObject(span?.attributes);
  expect(found).toMatchObject({
    ...wanted,
    'mcp.method.name': changes.method,
    'mcp.protocol.version': '2025-11-25',
    'svc.mcp.server': 'files',
  });
  expect(found).not.toHaveProperty(['gen_ai.provider.name']);
  expect(span?.status.code).toBe('error.type' in wanted ? 2 : undefined);
  const series = new GenAiMetrics((provider) => provider, 5);
  series.observe(record);
  expect(series.metrics('1', '2')).toEqual([]);
});

it('spans of A2A agents name the agent and have no provider of models', () => {
  const [attempt] = sampleRecord({}).attempts;
  const call = { serverId: 's', server: 'travel', integrationId: 'i', binding: 'JSONRPC', operation: 'SendMessage' } as const;
  const task = { version: '1.0', taskId: 't', contextId: 'c', taskState: 'TASK_STATE_FAILED' };
  const attempts = [{ ...attempt, provider: 'agent', status: 200, errorCode: null } as never];
  const rest = { callerAuth: 'api_key', upstreamAuth: 'none', errorCode: -32001 } as const;
  const record = sampleRecord({ endpoint: 'agent', model: null, attempts, agent: { ...call, ...task, ...rest } });
  const [, span] = requestSpans({ record, costNanoUsd: null }, surroundings);
  expect(span?.name).toBe('invoke_agent travel');
  const found = attributesAsObject(span?.attributes);
  expect(found).toMatchObject({
    ...{ 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'travel', 'gen_ai.conversation.id': 'c' },
    ...{ 'svc.a2a.operation': 'SendMessage', 'svc.a2a.task.id': 't', 'error.type': '-32001' },
  });
  expect(found).not.toHaveProperty(['gen_ai.provider.name']);
  const series = new GenAiMetrics((provider) => provider, 5);
  series.observe(record);
  expect(series.metrics('1', '2')).toEqual([]);
});

it.each([
  [200, undefined],
  [400, undefined],
  [429, undefined],
  [500, 2],
  [502, 2],
])('the span of a request with status %i has the code %s, and names the error of any status', (status, code) => {
  const errorCode = status < 400 ? null : 'bad_request';
  const record = sampleRecord({ status, errorCode, errorMessage: errorCode && 'no', attempts: [] });
  const [span] = requestSpans({ record, costNanoUsd: null }, surroundings);
  expect(span?.status).toEqual(code === undefined ? {} : { code, message: 'no' });
  expect(attributesAsObject(span?.attributes)['error.type']).toBe(errorCode ?? undefined);
});

it.each<[string, Partial<RequestRecord>, object]>([
  ['a route', { path: '/v1/chat/completions' }, { 'http.route': '/v1/chat/completions', 'url.scheme': 'https' }],
  ['an id', { path: '/v1/batches/batch_1', endpoint: 'retrieveBatch', method: 'GET' }, { 'http.route': '/v1/batches/{id}' }],
  ['a base of Azure', { path: '/openai/v1/chat/completions' }, { 'http.route': '/openai/v1/chat/completions' }],
  [
    'a deployment of Azure',
    { path: '/openai/deployments/gpt/chat/completions' },
    { 'http.route': '/openai/deployments/{deployment}/chat/completions' },
  ],
  ['another version', { path: '/v2/rerank', endpoint: 'rerank' }, { 'http.route': '/v2/rerank' }],
  ['no route of its own', { path: '/v1/other', endpoint: 'proxy' }, { 'http.route': undefined, 'url.path': '/v1/other' }],
  ['another method', { method: 'BREW' }, { 'http.request.method': '_OTHER', 'http.request.method_original': 'BREW' }],
])('the span of a request with %s has the attributes of an HTTP server', (_kind, changes, wanted) => {
  const record = sampleRecord(changes);
  const [span] = requestSpans({ record, costNanoUsd: null }, surroundings);
  const found = attributesAsObject(span?.attributes);
  expect(found).toMatchObject({ 'network.protocol.version': '1.1', 'http.response.status_code': 200 });
  for (const [name, value] of Object.entries(wanted)) expect(found[name], name).toBe(value);
});
