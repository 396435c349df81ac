import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { deepseek } from '../../../../core/providers/deepseek/index.ts';
import { messagesOverChat } from '../../../../core/translate/messages-over-chat/messages-over-chat.ts';
import { callOf } from '../contract-suite.ts';

const chat = deepseek.operations.chatComplete as Operation;
const messages = [{ role: 'user', content: 'Hi' }];
const schema = { type: 'object', properties: { city: { type: 'string' } } };

function sent(params: JsonObject, operation = chat) {
  const request = { model: 'deepseek-v4-pro', messages, ...params };
  const call = callOf(request, {}, {});
  const body = operation.toProvider?.(request, call) as JsonObject;
  return { request, body, dropped: call.dropped, adapted: call.adapted };
}

describe('structured output of deepseek', () => {
  it('sends json_object and the schema as a system message', () => {
    const format = { type: 'json_schema', json_schema: { name: 'place', schema } };
    const { body, adapted } = sent({ response_format: format });
    expect(body.response_format).toEqual({ type: 'json_object' });
    expect(body.messages).toEqual([{ role: 'system', content: expect.stringContaining(JSON.stringify(schema)) }, ...messages]);
    expect(adapted).toEqual(['response_format']);
  });

  it('adds a JSON instruction if the format has no schema', () => {
    const { body } = sent({ response_format: { type: 'json_schema' } });
    expect(body.messages).toEqual([{ role: 'system', content: expect.stringMatching(/JSON.*fence\.$/) }, ...messages]);
  });

  it('also adapts the format of Messages calls', () => {
    const { body, adapted } = sent(
      { max_tokens: 9, output_config: { format: { type: 'json_schema', schema } } },
      messagesOverChat(chat, deepseek.chatExtras),
    );
    expect(body.response_format).toEqual({ type: 'json_object' });
    expect(adapted).toContain('response_format');
  });

  it.each([[{ type: 'json_object' }], [{ type: 'text' }], [undefined]])('passes the format %j unchanged', (format) => {
    const { request, body, adapted } = sent({ response_format: format });
    expect(body).toBe(request);
    expect(adapted).toEqual([]);
  });
});

describe('reasoning of deepseek', () => {
  const off = { type: 'disabled' };

  it.each([
    ['effort none', { reasoning_effort: 'none' }, { thinking: off }, ['reasoning_effort']],
    ['effort minimal', { reasoning_effort: 'minimal' }, { reasoning_effort: 'low' }, ['reasoning_effort']],
    ['effort high', { reasoning_effort: 'high' }, { reasoning_effort: 'high' }, []],
    ['disabled thinking', { thinking: off }, { thinking: off }, []],
    ['a budget', { thinking: { type: 'enabled', budget_tokens: 2_048 } }, { thinking: { type: 'enabled' } }, ['thinking']],
    ['adaptive thinking', { thinking: { type: 'adaptive' } }, { thinking: { type: 'enabled' } }, ['thinking']],
    ['thinking between tools', { thinking: { type: 'between_tools' } }, { thinking: off }, ['thinking']],
    [
      'thinking beside effort none',
      { thinking: { type: 'enabled' }, reasoning_effort: 'none' },
      { thinking: { type: 'enabled' } },
      ['reasoning_effort'],
    ],
  ])('%s', (_, params, fields, changes) => {
    const { body, adapted } = sent(params);
    const { model: _model, messages: _messages, ...rest } = body;
    expect(rest).toEqual(fields);
    expect(adapted).toEqual(changes);
  });

  it('can be switched off by Messages calls', () => {
    const { body, dropped } = sent({ max_tokens: 9, thinking: off }, messagesOverChat(chat, deepseek.chatExtras));
    expect(body.thinking).toEqual(off);
    expect(dropped).toEqual([]);
  });
});
