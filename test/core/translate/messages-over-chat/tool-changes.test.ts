import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { toChatParams } from '../../../../core/translate/messages-over-chat/request.ts';
import { callOf } from '../../providers/contract-suite.ts';

const hello = { role: 'user', content: 'Hello' };

function sent(tools: JsonObject[] | undefined, ...changes: JsonObject[]) {
  const messages = [hello, { role: 'system', content: changes }];
  const call = callOf({ model: 'm', max_tokens: 10, messages, ...(tools && { tools }) }, {}, {});
  const body = toChatParams(call.params, call, []);
  const names = (body.tools as { function: { name: string } }[] | undefined)?.map((tool) => tool.function.name);
  return { body, names, dropped: call.dropped, adapted: call.adapted };
}

const tool = (name: string, description?: string) => ({
  name,
  input_schema: { type: 'object' },
  ...(description && { description }),
});
const added = (definition: JsonObject) => ({ type: 'tool_addition', tool: { type: 'tool_definition', definition } });
const addedAgain = (name: string) => ({ type: 'tool_addition', tool: { type: 'tool_reference', name } });
const removed = (name: string) => ({ type: 'tool_removal', tool: { type: 'tool_reference', name } });

it('tools that a turn defines can be called', () => {
  const { body, names, adapted, dropped } = sent([tool('a')], added({ ...tool('b', 'Finds.'), type: 'custom' }));
  expect(names).toEqual(['a', 'b']);
  expect((body.tools as JsonObject[])[1]).toMatchObject({ type: 'function', function: { description: 'Finds.' } });
  expect(body.messages).toEqual([hello]);
  expect([adapted, dropped]).toEqual([['messages.tool_addition'], []]);
});

it('tools that a turn defines need no tools of the call', () => {
  expect(sent(undefined, added(tool('a'))).names).toEqual(['a']);
});

it('tools that a turn removes cannot be called', () => {
  const { names, adapted } = sent([tool('a'), tool('b')], removed('a'));
  expect(names).toEqual(['b']);
  expect(adapted).toEqual(['messages.tool_removal']);
  expect(sent([tool('a')], removed('a')).body).not.toHaveProperty('tools');
});

it('the last change of a tool counts', () => {
  expect(sent([tool('a')], removed('a'), addedAgain('a')).names).toEqual(['a']);
  expect(sent([], added(tool('b')), removed('b')).names).toBeUndefined();
  const { body } = sent([tool('a', 'Old.')], removed('a'), added(tool('a', 'New.')));
  expect(body.tools).toMatchObject([{ function: { name: 'a', description: 'New.' } }]);
});

it('a summary of earlier turns has the changes of those turns', () => {
  const { names } = sent([tool('a')], { type: 'compaction', content: 'Before.', tool_changes: [added(tool('b')), removed('a')] });
  expect(names).toEqual(['b']);
});

it.each([
  ['a tool that nothing defines', removed('other')],
  ['a tool without a name', added({ input_schema: {} })],
  ['a tool of an MCP server', { type: 'tool_removal', tool: { type: 'mcp_tool_reference', server_name: 's', name: 'a' } }],
  ['no tool', { type: 'tool_removal' }],
])('a change of %s is dropped and reported', (_, change) => {
  const { names, dropped, adapted } = sent([tool('a')], change);
  expect(names).toEqual(['a']);
  expect([dropped, adapted]).toEqual([[`messages.${change.type}`], []]);
});
