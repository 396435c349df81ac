import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { providers } from '../../../../core/providers/index.ts';
import { callOf } from '../../providers/contract-suite.ts';

const messages = [{ role: 'user', content: 'hi' }];

function sent(provider: string, params: JsonObject, settings: JsonObject = {}) {
  const chat = providers.get(provider)?.operations.chatComplete as Operation;
  const all: JsonObject = { messages, ...params };
  const call = callOf(all, { settings }, {});
  const body = chat.toProvider?.(all, call) ?? all;
  return { body, isSame: body === all, adapted: call.adapted };
}

describe('max_tokens of a chat call', () => {
  it.each([
    ...['o1', 'o3-mini', 'o4-mini-2025-04-16', 'gpt-5', 'gpt-5.1-mini', 'gpt-5-chat-latest', 'gpt-6.2-astra'],
    'ft:o4-mini-2025-04-16:org::id',
  ])('is max_completion_tokens for %s', (model) => {
    const { body, adapted } = sent('openai', { model, max_tokens: 9 });
    expect(body).toEqual({ messages, model, max_completion_tokens: 9 });
    expect(adapted).toEqual(['max_tokens->max_completion_tokens']);
  });

  it.each(['gpt-4o', 'gpt-4.1', 'gpt-35-turbo', 'gpt-41', 'gpt-oss-120b', 'omni', 'o'])('passes for %s', (model) => {
    expect(sent('openai', { model, max_tokens: 9 }).isSame).toBe(true);
  });

  it('passes to a custom host, and beside the newer parameter', () => {
    expect(sent('openai', { model: 'gpt-5', max_tokens: 9 }, { custom_host: 'http://vllm/v1' }).isSame).toBe(true);
    expect(sent('openai', { model: 'gpt-5', max_tokens: 9, max_completion_tokens: 9 }).isSame).toBe(true);
    expect(sent('openai', { model: 'gpt-5', max_tokens: null }).isSame).toBe(true);
  });

  it.each([
    ['azure-openai', 'gpt-5-mini', {}],
    ['azure-openai', 'prod', { azure_model_name: 'o3' }],
    ['azure-ai', 'gpt-5-mini', { azure_foundry_url: 'https://r.services.ai.azure.com/openai/v1' }],
  ])('is max_completion_tokens at %s for %s %j', (provider, model, settings) => {
    const { body } = sent(provider, { model, max_tokens: 9 }, { azure_api_version: '2024-10-21', ...settings });
    expect(body).toMatchObject({ max_completion_tokens: 9 });
    expect(body).not.toHaveProperty('max_tokens');
  });
});
