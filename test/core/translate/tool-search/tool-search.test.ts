import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';

const parameters = { type: 'object', properties: { query: { type: 'string' } } };
const search = { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters };
const found = (name: string) => ({ type: 'function', name, parameters, defer_loading: true });
const namespace = (...names: string[]) => ({ type: 'namespace', name: 'github', description: 'd', tools: names.map(found) });
const item = (call_id: string, tools: readonly JsonObject[]) => [
  { type: 'tool_search_call', call_id, execution: 'client', status: 'completed', arguments: { query: call_id } },
  { type: 'tool_search_output', call_id, execution: 'client', status: 'completed', tools },
];
const request = {
  model: 'm',
  input: [
    { role: 'user', content: 'Open an issue.' },
    ...item('c1', [namespace('create')]),
    ...item('c2', [namespace('create', 'close'), found('plain')]),
    ...item('c3', []),
  ],
  tools: [search],
};

async function sent(reply: Script, provider = 'anthropic', more: JsonObject = {}) {
  const { send, script, calls } = createHarness({ providers: { p: provider } });
  script(reply);
  const got = await send({ path: '/v1/responses', headers: { 'x-svc-provider': '@p' }, body: { ...request, ...more } });
  return { got, body: JSON.parse(String(calls[0]?.body ?? '{}')) };
}

const claude = (name: string) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: 'tool_use' },
  content: [{ type: 'tool_use', id: 't1', name, input: { query: 'b' } }],
  usage: { input_tokens: 1, output_tokens: 1 },
});

it('a tool search of the client is a function, and the tools that it returned are tools', async () => {
  const { got, body } = await sent(replyWith(200, claude('tool_search')));
  expect(body.tools.map(({ name }: JsonObject) => name)).toEqual(['tool_search', 'github__create', 'github__close', 'plain']);
  expect(body.tools[0]).toMatchObject({ description: 'Finds tools.', input_schema: parameters });
  const blocks = body.messages.flatMap(({ content }: JsonObject) => (Array.isArray(content) ? content : []));
  expect(blocks.filter(({ type }: JsonObject) => type === 'tool_use')).toMatchObject([
    { name: 'tool_search', input: { query: 'c1' } },
    { name: 'tool_search', input: { query: 'c2' } },
    { name: 'tool_search', input: { query: 'c3' } },
  ]);
  const results = JSON.stringify(blocks.filter(({ type }: JsonObject) => type === 'tool_result'));
  expect(results).toContain('These tools can be called now: github__create, github__close, plain');
  expect(results).toContain('No tools were found.');
  expect(got.json.output).toMatchObject([
    { type: 'tool_search_call', call_id: 't1', execution: 'client', arguments: { query: 'b' } },
  ]);
  expect(got.json.tools).toEqual(request.tools);
  expect(got.header('x-svc-adapted')).toContain('tools.tool_search, input.tool_search');
});

it('a call of a tool that a search returned has its namespace', async () => {
  const { got } = await sent(replyWith(200, claude('github__close')));
  expect(got.json.output).toMatchObject([{ type: 'function_call', call_id: 't1', name: 'close', namespace: 'github' }]);
});

it('a tool search is streamed as one item without events for its arguments', async () => {
  const chunk = (delta: JsonObject, finish: string | null = null) => ({
    ...{ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const piece = (text: string, more: JsonObject = {}) => ({
    index: 0,
    ...more,
    function: { arguments: text, ...(more.id ? { name: 'tool_search' } : {}) },
  });
  const chunks = [
    chunk({ role: 'assistant', tool_calls: [piece('', { id: 't1', type: 'function' })] }),
    chunk({ tool_calls: [piece('{"query":')] }),
    chunk({ tool_calls: [piece('"b"}')] }),
    chunk({}, 'tool_calls'),
  ];
  const lines = [...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), 'data: [DONE]\n\n'];
  const { got } = await sent(streamOf(lines), 'deepseek', { stream: true });
  const events = eventsOf(got.text);
  expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, at) => at));
  expect(events.map(({ type }) => type)).not.toContain('response.function_call_arguments.delta');
  const done = events.find(({ type }) => type === 'response.output_item.done');
  expect(done?.item).toMatchObject({ type: 'tool_search_call', call_id: 't1', execution: 'client', arguments: { query: 'b' } });
  expect((events.at(-1) as JsonObject).response).toMatchObject({ output: [{ type: 'tool_search_call' }] });
});

it('a function with the name of the search is the only one of this name', async () => {
  const own = { type: 'function', name: 'tool_search', parameters };
  const { got, body } = await sent(replyWith(200, claude('tool_search')), 'anthropic', { tools: [search, own] });
  expect(body.tools.map(({ name }: JsonObject) => name)).toEqual(['tool_search', 'github__create', 'github__close', 'plain']);
  expect(got.json.output).toMatchObject([{ type: 'function_call', name: 'tool_search' }]);
});
