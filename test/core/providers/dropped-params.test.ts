import { describe, expect, it } from 'vitest';
import type { Operation, ProviderAdapter } from '../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../core/contract/values/json/json.ts';
import { anthropic } from '../../../core/providers/anthropic/anthropic.ts';
import { bedrock } from '../../../core/providers/bedrock/index.ts';
import { cohere } from '../../../core/providers/cohere/index.ts';
import { google } from '../../../core/providers/google/index.ts';
import { messagesOverChat } from '../../../core/translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtra } from '../../../core/translate/messages-over-chat/request.ts';
import { callOf } from './contract-suite.ts';

type Translated = ProviderAdapter & { readonly chatExtras?: readonly ChatExtra[] };

const models: readonly (readonly [Translated, string])[] = [
  [anthropic, 'claude-opus-4-6'],
  [google, 'gemini-3.8-flash'],
  [bedrock, 'amazon.nova-2-lite-v1:0'],
  [cohere, 'command-a-03-2025'],
];
const providers = models.map(([adapter, model]) => [adapter.id, adapter, model] as const);

function sent(operation: Operation, params: JsonObject) {
  const call = callOf(params, {}, { aws_region: 'eu-central-1' });
  const body = operation.toProvider?.(call.params, call) as JsonObject;
  return { body, dropped: call.dropped, adapted: call.adapted };
}

describe.each(providers)('%s', (_, adapter, model) => {
  const chat = adapter.operations.chatComplete as Operation;
  const hello = { model, messages: [{ role: 'user', content: 'Hi' }] };

  it.each(['web_search_options', 'verbosity', 'prompt_cache_key'])('reports that it cannot carry %s', (name) => {
    const value = name === 'web_search_options' ? {} : 'low';
    expect(sent(chat, { ...hello, [name]: value }).dropped).toEqual([name]);
  });
});

describe.each(providers.filter(([id]) => id !== 'cohere'))('images for %s', (_, adapter, model) => {
  const withImage = (detail: string) => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail } };
    return { model, messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, image] }] };
  };

  it('report a detail that it cannot carry', () => {
    const chat = adapter.operations.chatComplete as Operation;
    expect(sent(chat, withImage('high')).dropped).toEqual(['messages.image_url.detail']);
    expect(sent(chat, withImage('auto')).dropped).toEqual([]);
  });
});

it('a message of the user without content is left out for Claude, which rejects it', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'user', content: '' },
    { role: 'user', content: [{ type: 'text', text: '' }] },
  ];
  const { body, adapted } = sent(anthropic.operations.chatComplete as Operation, { model: 'claude-opus-4-6', messages });
  expect(body.messages).toEqual([{ role: 'user', content: 'Hi' }]);
  expect(adapted).toEqual(['messages']);
});

describe('errors and images in tool results of Messages calls', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
  const result = { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'no' }, image] };
  const messages = [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: {} }] },
    { role: 'user', content: [result] },
  ];
  const over = (adapter: Translated, model: string) =>
    sent(messagesOverChat(adapter.operations.chatComplete as Operation, adapter.chatExtras ?? []), {
      model,
      max_tokens: 99,
      messages,
    });

  it('reach Gemini inside the turn of the result', () => {
    const { body, dropped } = over(google, 'gemini-2.5-flash');
    expect((body.contents as JsonObject[]).at(-1)).toEqual({
      role: 'user',
      parts: [
        { functionResponse: { name: 'look', response: { error: 'no' } } },
        { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      ],
    });
    expect(dropped).toEqual([]);
  });

  it('reach Converse inside the result', () => {
    const { body, dropped } = over(bedrock, 'amazon.nova-2-lite-v1:0');
    expect((body.messages as JsonObject[]).at(-1)).toMatchObject({
      role: 'user',
      content: [{ toolResult: { status: 'error', content: [{ text: 'no' }, { image: { format: 'png' } }] } }],
    });
    expect(dropped).toEqual([]);
  });
});
