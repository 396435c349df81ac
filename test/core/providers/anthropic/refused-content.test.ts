import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { chatRequest } from '../../../../core/formats/anthropic/chat-request.ts';
import { callOf } from '../contract-suite.ts';

const user = { role: 'user', content: 'Weather?' };

function sent(params: JsonObject) {
  const call = callOf({ messages: [user], ...params }, {}, {});
  return { body: chatRequest(call.params, call), adapted: call.adapted };
}

describe('content that Claude refuses', () => {
  const use = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };

  it('is left out if it is blank text', () => {
    const result = { role: 'tool', tool_call_id: 'c1', content: 'rain' };
    const messages = [
      { role: 'system', content: ' ' },
      { role: 'user', content: '\n' },
      user,
      { role: 'assistant', content: '\n\n', tool_calls: [use] },
      result,
    ];
    const { body } = sent({ messages });
    expect(body.system).toBeUndefined();
    expect(body.messages).toMatchObject([user, { content: [{ type: 'tool_use', id: 'c1' }] }, { role: 'user' }]);
  });

  it('loses white space at the end of a beginning of the reply, which is reported', () => {
    const { body, adapted } = sent({ messages: [user, { role: 'assistant', content: 'It is: ' }] });
    expect(body.messages).toEqual([user, { role: 'assistant', content: 'It is:' }]);
    expect(adapted).toEqual(['messages']);
    const earlier = [user, { role: 'assistant', content: 'It is: ' }, user];
    expect(sent({ messages: earlier })).toMatchObject({ body: { messages: earlier }, adapted: [] });
  });

  it('instructions without a turn become the turn of the user', () => {
    const { body, adapted } = sent({ messages: [{ role: 'system', content: 'Write a poem.' }] });
    expect(body).toMatchObject({ messages: [{ role: 'user', content: 'Write a poem.' }] });
    expect([body.system, adapted]).toEqual([undefined, ['messages']]);
  });

  it('JPEG images have the registered media type', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } };
    const { body } = sent({ messages: [{ role: 'user', content: [image] }] });
    expect(body.messages).toMatchObject([{ content: [{ source: { media_type: 'image/jpeg', data: 'AAAA' } }] }]);
  });

  it.each([null, ['object', 'null'], undefined])('parameters of type %j are of type object', (type) => {
    const { body } = sent({ tools: [{ type: 'function', function: { name: 'f', parameters: { type, properties: {} } } }] });
    expect(body.tools).toEqual([{ name: 'f', input_schema: { type: 'object', properties: {} } }]);
  });
});
