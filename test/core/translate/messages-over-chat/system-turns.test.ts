import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { toChatParams } from '../../../../core/translate/messages-over-chat/request.ts';
import { callOf } from '../../providers/contract-suite.ts';

const user = (content: string) => ({ role: 'user', content });
const reminder = (content: string) => ({ role: 'system', content, clear_at: 'next_user_message' });
const kept = { role: 'system', content: 'Always.', clear_at: 'never' };

function sent(messages: readonly JsonObject[], params: JsonObject = {}) {
  const call = callOf({ model: 'm', max_tokens: 10, messages, ...params }, {}, {});
  return { body: toChatParams(call.params, call, []), dropped: call.dropped, adapted: call.adapted };
}

it('a system turn for one turn of the user is left out after the next', () => {
  const old = sent([user('a'), reminder('Old.'), kept, { role: 'assistant', content: 'b' }, user('c'), reminder('New.')]);
  const texts = (old.body.messages as JsonObject[]).map(({ content }) => content);
  expect(texts).toEqual(['a', 'Always.', 'b', 'c', 'New.']);
  expect(old.adapted).toEqual(['messages.clear_at']);
  const current = sent([user('a'), reminder('New.'), { role: 'assistant', content: 'b' }]);
  expect((current.body.messages as JsonObject[])[1]).toEqual({ role: 'system', content: 'New.' });
  expect(current.adapted).toEqual([]);
});

it.each([
  ['low', ['messages.output_config']],
  ['high', []],
])('the effort %s of the last system turn that has one is that of the request', (effort, reported) => {
  const turn = (own: string) => ({ role: 'system', content: [], output_config: { effort: own } });
  const messages = [
    user('a'),
    turn('max'),
    user('b'),
    turn(effort),
    user('c'),
    { role: 'system', content: 'Now.', output_config: {} },
  ];
  const { body, adapted, dropped } = sent(messages, { output_config: { effort: 'high' } });
  expect(body.messages).toEqual([user('a'), user('b'), user('c'), { role: 'system', content: 'Now.' }]);
  expect(body.reasoning_effort).toBe(effort);
  expect([adapted, dropped]).toEqual([reported, []]);
});
