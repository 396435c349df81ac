import { expect, it } from 'vitest';
import { toChatParams as messagesToChat } from '../../../core/translate/messages-over-chat/request.ts';
import { toolParams } from '../../../core/translate/responses-over-chat/tools.ts';
import { callOf } from '../providers/contract-suite.ts';

it.each([
  ['no type', {}],
  ['an object as its type', { type: { toString: 1, valueOf: 1 } }],
])('Responses request: a tool with %s is a 400 that names it, as at OpenAI', (_, type) => {
  const call = callOf({ model: 'm', input: 'Hi', tools: [{ name: 'f', parameters: {}, ...type }] }, {}, {});
  expect(() => toolParams(call.params, call, [])).toThrow(expect.objectContaining({ param: 'tools[0].type' }));
});

it('Messages request: a content block without a type is a 400 that names it, as at Anthropic', () => {
  const call = callOf({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }, {}, {});
  expect(() => messagesToChat(call.params, call, [])).toThrow(expect.objectContaining({ param: 'messages[0].content[0].type' }));
});
