import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { toChatParams } from '../../../../core/translate/messages-over-chat/request.ts';
import { callOf } from '../../providers/contract-suite.ts';

const hello = [{ role: 'user', content: 'Hello' }];

function sent(params: JsonObject) {
  const call = callOf({ model: 'm', max_tokens: 10, messages: hello, ...params }, {}, {});
  return { body: toChatParams(call.params, call, []), dropped: call.dropped, adapted: call.adapted };
}

it('tool results name the tools that a search of the client found', () => {
  const long = `mcp__plugin_${'p'.repeat(70)}__find`;
  const references = ['get_weather', long].map((tool_name) => ({ type: 'tool_reference', tool_name }));
  const { body, dropped, adapted } = sent({
    messages: [...hello, { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: references }] }],
    tools: ['get_weather', long].map((name) => ({ name, input_schema: { type: 'object' }, defer_loading: true })),
  });
  const names = (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name);
  expect((body.messages as JsonObject[])[1]).toEqual({
    role: 'tool',
    tool_call_id: 't1',
    content: names.map((name) => `The tool ${name} can be called now.`).join('\n'),
  });
  expect(names[1]).not.toBe(long);
  expect([dropped, adapted]).toEqual([['tools.defer_loading'], ['messages.tool_reference', 'tools.name']]);
});

it('a system turn of which nothing is left is not sent', () => {
  const addition = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'look' } };
  const { body, dropped } = sent({ messages: [...hello, { role: 'system', content: [addition] }] });
  expect((body.messages as JsonObject[]).map(({ role }) => role)).toEqual(['user']);
  expect(dropped).toEqual(['messages.tool_addition']);
});
