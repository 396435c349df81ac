import { expect, it } from 'vitest';
import type { Operation, OperationCall } from '../../../core/contract/provider/provider.ts';
import { emptyUsage } from '../../../core/contract/values/models/usage.ts';
import { messagesOverChat } from '../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { responsesOverChat } from '../../../core/translate/responses-over-chat/responses-over-chat.ts';
import { callOf } from '../providers/contract-suite.ts';

/** Reads the messages of the chat call, which calls of other formats have in other members. */
const count = (call?: OperationCall) => {
  const messages = call?.params.messages;
  return { ...emptyUsage(), inputTokens: Array.isArray(messages) ? messages.length : 0 };
};
const chat: Operation = {
  path: () => '/chat',
  method: 'PUT',
  headers: ({ model }) => ['x-model', model],
  usage: (_, call) => count(call),
  usageOfCall: count,
  streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
};

it.each([
  ['messages', messagesOverChat(chat), { max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] }],
  ['responses', responsesOverChat(chat), { input: 'hi' }],
] as const)('calls of %s have method, headers and usage of the chat operation', (_, operation, params) => {
  const call = callOf({ ...params, model: 'one' }, {}, {});
  expect([operation.method, operation.headers?.(call)]).toEqual(['PUT', ['x-model', 'one']]);
  expect([operation.usage({}, call)?.inputTokens, operation.usageOfCall?.(call)?.inputTokens]).toEqual([1, 1]);
});
