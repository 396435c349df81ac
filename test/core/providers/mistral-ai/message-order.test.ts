import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { mistralAi } from '../../../../core/providers/mistral-ai/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { callOf } from '../contract-suite.ts';

const chat = mistralAi.operations.chatComplete as Operation;
const user = { role: 'user', content: 'weather?' };
const calling = {
  role: 'assistant',
  content: '',
  tool_calls: [{ id: 'abcdefghi', function: { name: 'weather', arguments: '{}' } }],
};
const result = { role: 'tool', tool_call_id: 'abcdefghi', content: '21' };

function send(operation: Operation, params: JsonObject) {
  const call = callOf(params, {}, {});
  const body = operation.toProvider?.(params, call) as JsonObject;
  return { sent: body.messages as JsonObject[], body, adapted: call.adapted };
}

describe('order of messages at mistral-ai', () => {
  it('has a message of the assistant between results of tools and the next message of the user', () => {
    const { sent, adapted } = send(chat, { model: 'm', messages: [user, calling, result, user] });
    expect(sent).toEqual([user, calling, result, { role: 'assistant', content: 'OK.' }, user]);
    expect(adapted).toEqual(['messages']);
  });

  it('is the same for a Messages turn with a result and a text, as coding agents send it', () => {
    const messages = [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: '21' },
          { type: 'text', text: 'go on' },
        ],
      },
    ];
    const { sent } = send(messagesOverChat(chat, []), { model: 'm', max_tokens: 9, messages });
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant', 'user']);
  });

  it('marks text of the assistant at the end as prefix', () => {
    const { sent } = send(chat, { model: 'm', messages: [user, { role: 'assistant', content: '{' }] });
    expect(sent.at(-1)).toEqual({ role: 'assistant', content: '{', prefix: true });
  });

  it('does not change a request in that order', () => {
    const params = { model: 'm', messages: [user, calling, result] };
    expect(send(chat, params).body).toBe(params);
  });
});
