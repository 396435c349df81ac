import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';

const parameters = { type: 'object', properties: { q: { type: 'string' } } };
const fn = (name: string, more: JsonObject = {}): JsonObject => ({ type: 'function', name, parameters, strict: false, ...more });
const longName = 'n'.repeat(70);
const request = {
  model: 'm',
  input: [
    { role: 'user', content: 'Find it.' },
    { type: 'function_call', call_id: 'c1', name: 'find', namespace: 'mcp__docs', arguments: '{"q":"a"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'none' },
    { type: 'custom_tool_call', call_id: 'c2', name: 'patch', namespace: 'edit', input: 'x' },
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok' },
  ],
  tools: [
    fn('find'),
    { type: 'namespace', name: 'mcp__docs', description: 'd', tools: [fn('find', { defer_loading: true }), fn(longName)] },
    { type: 'namespace', name: 'edit__', description: 'd', tools: [{ type: 'custom', name: 'patch' }] },
  ],
};
const short = `mcp__docs__${'n'.repeat(44)}`;

async function sent(provider: string, reply: Parameters<ReturnType<typeof createHarness>['script']>[0], more: JsonObject = {}) {
  const { send, script, calls, key } = createHarness();
  script(reply);
  const headers = { 'x-svc-api-key': key, 'x-svc-provider': provider, authorization: 'Bearer k' };
  const got = await send({ path: '/v1/responses', headers, body: { ...request, ...more } });
  return { got, body: JSON.parse(String(calls[0]?.body ?? '{}')) };
}

const claude = (name: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
  content: [{ type: 'tool_use', id: 't1', name, input: name.startsWith('edit') ? { input: 'p' } : { q: 'b' } }],
  usage: { input_tokens: 1, output_tokens: 1 },
});
const response = (output: readonly JsonObject[]) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output, tools: [{ type: 'function' }] },
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
});
const called = { id: 'fc_1', type: 'function_call', call_id: 't1', name: 'mcp__docs__find', arguments: '{"q":"b"}' };

describe('namespaces of tools', () => {
  it('are tools with joined names over chat completions, as are earlier calls', async () => {
    const { got, body } = await sent('anthropic', replyWith(200, claude('mcp__docs__find')));
    const names = body.tools.map((tool: JsonObject) => String(tool.name));
    expect(names.slice(0, 2)).toEqual(['find', 'mcp__docs__find']);
    expect(names[2]).toMatch(new RegExp(`^${short}_[\\da-f]{8}$`));
    expect(names[2]).toHaveLength(64);
    expect(names[3]).toBe('edit__patch');
    const uses = body.messages
      .flatMap(({ content }: JsonObject) => (Array.isArray(content) ? content : []))
      .filter((block: JsonObject) => block.type === 'tool_use');
    expect(uses.map(({ name }: JsonObject) => name)).toEqual(['mcp__docs__find', 'edit__patch']);
    expect(got.header('x-svc-adapted')).toContain('tools.namespace, input.namespace');
    expect(got.json.output).toMatchObject([{ type: 'function_call', call_id: 't1', name: 'find', namespace: 'mcp__docs' }]);
    expect(got.json.tools).toEqual(request.tools);
  });

  it('have custom tools too, and a tool outside them keeps its name', async () => {
    const patched = await sent('anthropic', replyWith(200, claude('edit__patch')));
    expect(patched.got.json.output).toMatchObject([{ type: 'custom_tool_call', name: 'patch', namespace: 'edit__', input: 'p' }]);
    const outside = await sent('anthropic', replyWith(200, claude('find')));
    expect((outside.got.json.output as JsonObject[])[0]).not.toHaveProperty('namespace');
  });

  it('are tools with joined names at a provider with a Responses API, plain and streamed', async () => {
    const { got, body } = await sent('groq', replyWith(200, response([called])));
    expect(body.tools).toMatchObject([
      { name: 'find' },
      { name: 'mcp__docs__find' },
      {},
      { type: 'function', name: 'edit__patch' },
    ]);
    expect(body.tools[1]).not.toHaveProperty('defer_loading');
    expect(body.input[1]).toEqual({ type: 'function_call', call_id: 'c1', name: 'mcp__docs__find', arguments: '{"q":"a"}' });
    expect(got.json).toMatchObject({ output: [{ name: 'find', namespace: 'mcp__docs' }], tools: request.tools });

    const item = { output_index: 0, item: called };
    const events = [
      { type: 'response.output_item.added', sequence_number: 0, ...item },
      {
        type: 'response.function_call_arguments.done',
        sequence_number: 1,
        item_id: 'fc_1',
        output_index: 0,
        name: called.name,
        arguments: '{}',
      },
      { type: 'response.output_item.done', sequence_number: 2, ...item },
      { type: 'response.completed', sequence_number: 3, response: response([called]) },
    ];
    const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    const stream = eventsOf((await sent('groq', streamOf(chunks), { stream: true })).got.text);
    const own = { name: 'find', namespace: 'mcp__docs' };
    expect(stream).toMatchObject([{ item: own }, { name: 'find' }, { item: own }, { response: { output: [own] } }]);
  });

  it.each([
    [
      { type: 'function', name: 'find', namespace: 'mcp__docs' },
      { type: 'function', name: 'mcp__docs__find' },
    ],
    [
      {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [
          { type: 'namespace', name: 'edit__' },
          { type: 'function', name: 'find' },
        ],
      },
      {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [
          { type: 'function', name: 'edit__patch' },
          { type: 'function', name: 'find' },
        ],
      },
    ],
    ['required', 'required'],
  ])('the choice of tools %j is converted', async (tool_choice, expected) => {
    const { body } = await sent('groq', replyWith(200, response([])), { tool_choice });
    expect(body.tool_choice).toEqual(expected);
  });

  it('pass unchanged to OpenAI', async () => {
    const { got, body } = await sent('openai', replyWith(200, response([called])));
    expect([body, got.json.output]).toEqual([request, [called]]);
  });
});

it.each(['anthropic', 'google', 'mistral-ai'])(
  'responses over chat (%s): the result of a call that is left out is left out',
  async (provider) => {
    const input = [
      { role: 'user', content: 'List.' },
      { type: 'local_shell_call', call_id: 'c1', status: 'completed', action: { type: 'exec', command: ['ls'], env: {} } },
      { type: 'function_call_output', call_id: 'c1', output: 'secret.txt' },
      { role: 'user', content: 'Go on.' },
    ];
    const { got, body } = await sent(provider, replyWith(200, {}), { input, tools: [] });
    expect(JSON.stringify(body)).not.toContain('secret.txt');
    expect(got.header('x-svc-dropped-params')).toBe('input.local_shell_call, input.function_call_output');
  },
);
