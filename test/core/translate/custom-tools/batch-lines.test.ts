import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { outputLine, readBatchRequests } from '../../../../core/formats/stored/batch-lines.ts';

const tool = { type: 'custom', custom: { name: 'apply_patch', description: 'Edits files' } };
const earlier = {
  role: 'assistant',
  tool_calls: [{ id: 'c0', type: 'custom', custom: { name: 'apply_patch', input: '*** a' } }],
};
const named = { name: 'apply_patch__custom_tool' };

async function readOne(body: JsonObject) {
  const call = { adapted: [] as string[] };
  const file = (async function* () {
    yield Buffer.from(JSON.stringify({ custom_id: 'one', method: 'POST', url: '/v1/chat/completions', body }));
  })();
  for await (const request of readBatchRequests(file, call)) return { body: request.body, adapted: call.adapted };
  throw new Error('no request');
}

it('lines of batches: custom tools, calls and choices become functions with a marked name', async () => {
  const { body, adapted } = await readOne({ messages: [earlier], tools: [tool], tool_choice: tool });
  expect(body).toMatchObject({
    tools: [{ type: 'function', function: { ...named, description: 'Edits files', parameters: { required: ['input'] } } }],
    messages: [{ tool_calls: [{ id: 'c0', type: 'function', function: { ...named, arguments: '{"input":"*** a"}' } }] }],
    tool_choice: { type: 'function', function: named },
  });
  expect(adapted).toEqual(['tools.custom', 'messages.tool_calls.custom']);
  const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [tool] } };
  const second = await readOne({ messages: [], tools: [tool], tool_choice: allowed });
  expect(second.body.tool_choice).toMatchObject({ allowed_tools: { tools: [{ type: 'function', function: named }] } });
});

it('lines of batches: other requests stay the same, and names that would be too long are rejected', async () => {
  const plain = { messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: 'f' } }] };
  expect(await readOne(plain)).toEqual({ body: plain, adapted: [] });
  const long = { type: 'custom', custom: { name: 'n'.repeat(52) } };
  await expect(readOne({ messages: [], tools: [long] })).rejects.toMatchObject({ param: 'tools[0].custom.name' });
});

it('lines of batches: functions with a name that the results would show as a custom tool are rejected', async () => {
  const tools = [tool, { type: 'function', function: named }];
  await expect(readOne({ messages: [], tools })).rejects.toMatchObject({ status: 400, param: 'tools[1].function.name' });
  await expect(readOne({ messages: [], functions: [named] })).rejects.toMatchObject({ status: 400, param: 'functions[0].name' });
});

it('results of batches: calls of marked functions are calls of the custom tools, and other calls stay', () => {
  const other = { id: 'c2', type: 'function', function: { name: 'f', arguments: '{"input":"x"}' } };
  const marked = { id: 'c1', type: 'function', function: { ...named, arguments: '{"input":"*** b"}' } };
  const body = { id: 'chatcmpl-1', choices: [{ index: 0, message: { role: 'assistant', tool_calls: [marked, other] } }] };
  const line = JSON.parse(String(outputLine('l1', 'one', { response: { status_code: 200, body }, error: null })));
  expect(line).toMatchObject({
    id: 'l1',
    custom_id: 'one',
    error: null,
    response: { status_code: 200, body: { id: 'chatcmpl-1' } },
  });
  expect(line.response.body.choices[0].message.tool_calls).toEqual([
    { id: 'c1', type: 'custom', custom: { name: 'apply_patch', input: '*** b' } },
    other,
  ]);
});
