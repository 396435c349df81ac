import { expect, it } from 'vitest';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { type ChatExtra, toChatParams } from '../../../../core/translate/messages-over-chat/request.ts';
import { callOf } from '../../providers/contract-suite.ts';

const hello = { role: 'user', content: 'Hello' };
const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } };
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] };
const thought = { type: 'thinking', thinking: 'hm', signature: 's' };
const sealed = { type: 'redacted_thinking', data: 'x' };

function sent(content: unknown, understands: readonly ChatExtra[] = []) {
  const call = callOf({ model: 'm', max_tokens: 10, messages: [hello, { role: 'assistant', content }, hello] }, {}, {});
  const { messages } = toChatParams(call.params, call, understands);
  return { messages: messages as JsonObject[], adapted: call.adapted };
}

// OpenAI, Groq and DeepSeek reject `{role: 'assistant', content: null}`.
it.each([
  ['a paused turn of server tools', [search, found]],
  ['reasoning', [thought, sealed]],
  ['no content', []],
  ['an empty text', [{ type: 'text', text: '' }]],
])('Messages request: an assistant turn of %s alone is no message for a provider that cannot read it', (_, content) => {
  expect(sent(content)).toEqual({ messages: [hello, hello], adapted: ['messages'] });
});

it('Messages request: an assistant turn of reasoning alone has an empty text for a provider that reads reasoning as text', () => {
  const { messages, adapted } = sent([thought], ['reasoning_content']);
  expect(messages[1]).toEqual({ role: 'assistant', content: '', reasoning_content: 'hm' });
  expect(adapted).toEqual([]);
});

it('Messages request: sealed reasoning alone stays for a provider that reads it', () => {
  expect(sent([sealed], ['content_blocks']).messages[1]).toEqual({ role: 'assistant', content: null, content_blocks: [sealed] });
});
