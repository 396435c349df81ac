import { expect, it } from 'vitest';
import type { Operation, OperationCall } from '../../../../core/contract/provider/provider.ts';
import { providers } from '../../../../core/providers/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { callOf } from '../../providers/contract-suite.ts';

const params = { model: 'm', max_tokens: 5, stream: true, messages: [{ role: 'user', content: 'x' }] };

/** A chat operation that records its calls. */
function recording(): { chat: Operation; calls: OperationCall[] } {
  const calls: OperationCall[] = [];
  const chat: Operation = {
    path: (call) => `/chat/${call.model}`,
    toProvider: (body, call) => {
      calls.push(call);
      call.dropped.push('seen_by_chat');
      return { ...body, shaped: true };
    },
    fromProvider: (reply, call) => {
      calls.push(call);
      return reply;
    },
    translateStream: (call) => {
      calls.push(call);
      return null;
    },
    usage: () => null,
    streamReader: () => ({ push: () => {}, usage: () => null, complete: () => true }),
  };
  return { chat, calls };
}

it('Messages over chat: one lenient chat call is passed to request, reply and stream', () => {
  const { chat, calls } = recording();
  const operation = messagesOverChat(chat);
  const call = callOf(params, { strict: true }, {});
  expect(operation.path(call)).toBe('/chat/m');
  const body = operation.toProvider?.(call.params, call);
  operation.fromProvider?.({ choices: [] }, call);
  operation.translateStream?.(call);
  expect(body).toEqual({
    model: 'm',
    max_completion_tokens: 5,
    stream: true,
    stream_options: { include_usage: true },
    messages: params.messages,
    shaped: true,
  });
  expect(new Set(calls).size).toBe(1);
  expect(calls).toHaveLength(3);
  expect(calls[0]?.strict).toBe(false);
  expect(calls[0]?.params).not.toHaveProperty('max_tokens');
});

it('Messages over chat: dropped fields of both sides are reported once, on the client’s call', () => {
  const { chat } = recording();
  const call = callOf({ ...params, top_k: 3 }, {}, {});
  const operation = messagesOverChat(chat);
  operation.path(call);
  operation.toProvider?.(call.params, call);
  operation.translateStream?.(call);
  expect(call.dropped).toEqual(['top_k', 'seen_by_chat']);
});

it('Messages over chat: every provider with chat completions gets a Messages route, and the native one is unchanged', () => {
  for (const provider of providers.values()) {
    if (provider.operations.chatComplete)
      expect([provider.id, typeof provider.operations.messages]).toEqual([provider.id, 'object']);
  }
  const native = providers.get('anthropic')?.operations.messages;
  const params = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };
  expect(native?.toProvider?.(params, callOf(params, {}, {}))).toBe(params);
  const reply = { id: 'm', type: 'message', content: [] };
  expect(native?.fromProvider?.(reply, callOf(params, {}, {}))).toBe(reply);
  expect(native?.translateStream).toBeUndefined();
});
