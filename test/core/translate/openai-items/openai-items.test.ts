import { expect, it } from 'vitest';
import type { OperationCall } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { createHarness, replyWith, type Script } from '../../../../core/test-kit/pipeline-harness.ts';
import { streamOf } from '../../../../core/test-kit/provider-scripts.ts';
import { eventsOf } from '../../../../core/test-kit/read-reply.ts';
import { withItemsApplied } from '../../../../core/translate/openai-items/request.ts';

const parameters = { type: 'object', properties: {} };
const tool = (name: string, description = 'd') => ({ type: 'function', name, description, parameters });
const hello = { role: 'user', content: 'Hello' };
/** As Codex declares its tools. */
const additional = {
  ...{ type: 'additional_tools', id: 'at_1', role: 'developer' },
  tools: [
    { type: 'namespace', name: 'functions', description: '', tools: [{ type: 'custom', name: 'exec', description: 'Runs.' }] },
  ],
};

async function sent(input: readonly JsonObject[], reply: Script = replyWith(200, claude('Hi')), more: JsonObject = {}) {
  const { send, script, calls } = createHarness({ providers: { p: 'anthropic', own: 'groq', openai: 'openai' } });
  script(reply);
  const { provider = 'p', ...params } = more;
  const headers = { 'x-svc-provider': `@${provider}` };
  const got = await send({ path: '/v1/responses', headers, body: { model: 'm', input, ...params } });
  return { got, body: JSON.parse(String(calls[0]?.body ?? '{}')) };
}

const claude = (text: string | null) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', stop_reason: text === null ? 'tool_use' : 'end_turn' },
  content: [
    text === null ? { type: 'tool_use', id: 't1', name: 'functions__exec', input: { input: 'ls' } } : { type: 'text', text },
  ],
  usage: { input_tokens: 1, output_tokens: 1 },
});

it('tools of an item are tools of the request, and calls of them have their namespace', async () => {
  const { got, body } = await sent([additional, hello], replyWith(200, claude(null)));
  expect(body.tools).toMatchObject([{ name: 'functions__exec', description: 'Runs.' }]);
  expect(body.messages).toEqual([hello]);
  expect(got.json.output).toMatchObject([{ type: 'custom_tool_call', name: 'exec', namespace: 'functions', input: 'ls' }]);
  expect(got.json.tools).toEqual([]);
  expect(got.header('x-svc-adapted')).toContain('input.additional_tools');
});

it('streams repeat the tools of the request only', async () => {
  const block = { type: 'tool_use', id: 't1', name: 'functions__exec', input: {} };
  const events = [
    { type: 'message_start', message: { ...claude(null), content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"input":"ls"}' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const lines = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const { got } = await sent([additional, hello], streamOf(lines), { stream: true, tools: [tool('own')] });
  const data = eventsOf(got.text);
  const responses = data.flatMap(({ response }) => (response === undefined ? [] : [response as JsonObject]));
  expect(responses.length).toBeGreaterThan(1);
  expect(responses.map(({ tools }) => tools)).toEqual(responses.map(() => [tool('own')]));
  expect(data.find(({ type }) => type === 'response.output_item.done')?.item).toMatchObject({ namespace: 'functions' });
});

it('the last of several tools of one name counts', async () => {
  const again = { ...additional, tools: [tool('b', 'new'), tool('c')] };
  const { body } = await sent([{ ...additional, tools: [tool('b', 'old')] }, again, hello], undefined, { tools: [tool('a')] });
  expect(body.tools.map(({ name, description }: JsonObject) => [name, description])).toEqual([
    ['a', 'd'],
    ['b', 'new'],
    ['c', 'd'],
  ]);
});

it('each MCP server of the request and of items is a tool of its own', async () => {
  const server = (label: string, url: string) => ({ type: 'mcp', server_label: label, server_url: url });
  const items = [{ ...additional, tools: [server('a', 'https://a.example'), server('b', 'https://b.example')] }, hello];
  const more = { provider: 'own', tools: [server('b', 'https://old.example'), server('c', 'https://c.example')] };
  const { body } = await sent(items, replyWith(200, { output: [] }), more);
  expect(body.tools).toEqual([
    server('b', 'https://b.example'),
    server('c', 'https://c.example'),
    server('a', 'https://a.example'),
  ]);
});

it('the last settings of the input are those of the request', async () => {
  const update = (change: JsonObject) => ({ type: 'configuration_update', ...change });
  const format = { type: 'json_schema', name: 'n', schema: { type: 'object', properties: {}, additionalProperties: false } };
  const items = [update({ reasoning: { effort: 'high' }, text: { format } }), hello, update({ reasoning: { effort: 'low' } })];
  const { got, body } = await sent(items, undefined, { provider: 'own', reasoning: { effort: 'medium', summary: 'auto' } });
  expect(body.reasoning).toEqual({ effort: 'low', summary: 'auto' });
  expect(body.text).toEqual({ format });
  expect(body.input).toEqual([hello]);
  expect(got.header('x-svc-adapted')).toContain('input.configuration_update');
});

it('200,000 settings of the input are read within the time of one test', () => {
  const input = Array.from({ length: 200_000 }, (_, i) => ({ type: 'configuration_update', reasoning: { [`s${i}`]: i } }));
  const call = { adapted: [], dropped: [] } as unknown as OperationCall;
  const { reasoning } = withItemsApplied({ input, reasoning: { s1: 'first', effort: 'low' } }, call);
  expect(Object.keys(reasoning as JsonObject)).toHaveLength(200_001);
  expect(reasoning).toMatchObject({ s1: 1, effort: 'low', s199999: 199_999 });
});

it('a message of another agent is a message of the user', async () => {
  const content = (text: string) => [
    { type: 'input_text', text: 'Task:' },
    { type: 'encrypted_content', encrypted_content: text },
  ];
  const item = { type: 'agent_message', author: '/root', recipient: '/root/a', content: content('Find it.') };
  const { got, body } = await sent([hello, item]);
  expect(JSON.stringify(body.messages)).toContain('Task:');
  expect(JSON.stringify(body.messages)).toContain('Find it.');
  expect(got.header('x-svc-dropped-params')).toBeUndefined();
  const sealed = await sent([hello, { ...item, content: content('gAAAAABpLZ0x-abc_def==') }]);
  expect(JSON.stringify(sealed.body.messages)).not.toContain('gAAAA');
  expect(sealed.got.header('x-svc-dropped-params')).toContain('input.agent_message.encrypted_content');
});

it('models of OpenAI get the items unchanged', async () => {
  const { body } = await sent([additional, hello], replyWith(200, { output: [] }), { provider: 'openai' });
  expect(body.input).toEqual([additional, hello]);
  expect(body).not.toHaveProperty('tools');
});
