import { describe, expect, it } from 'vitest';
import type { Operation } from '../../../../core/contract/provider/provider.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import { ollama } from '../../../../core/providers/ollama/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { openrouter } from '../../../../core/providers/openrouter/index.ts';
import { togetherAi } from '../../../../core/providers/together-ai/index.ts';
import { callOf } from '../../providers/contract-suite.ts';

const chat = openai.operations.chatComplete as Operation;
const messages = [{ role: 'user', content: 'hi' }];

describe('unchanged requests and replies', () => {
  it('are the same request object if nothing has to change', () => {
    for (const params of [
      { model: 'm', messages },
      { model: 'm', messages, stream: true, stream_options: { include_usage: true } },
    ]) {
      expect(chat.toProvider?.(params, callOf(params, {}, {}))).toBe(params);
    }
  });

  it('are the same reply object, without a translator if the client requested token counts', () => {
    const params = { model: 'm', messages, stream: true, stream_options: { include_usage: true } };
    const reply = { choices: [{ index: 0, finish_reason: 'brand_new' }] };
    expect(chat.fromProvider?.(reply, callOf(params, {}, {}))).toBe(reply);
    expect(chat.translateStream?.(callOf(params, {}, {}))).toBe(null);
  });

  it('are the same events if they need no change', () => {
    const translator = (togetherAi.operations.chatComplete as Operation).translateStream?.(callOf({ stream: true }, {}, {}));
    const event = { event: null, data: { choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] } };
    expect(translator?.push(event)[0]).toBe(event);
  });

  it('keep other stream options of the client', () => {
    const params = { stream: true, stream_options: { include_obfuscation: false, include_usage: false } };
    expect(chat.toProvider?.(params, callOf(params, {}, {})).stream_options).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
  });
});

describe('finish reasons', () => {
  it("are the provider's own if strict compliance is off", () => {
    const operation = togetherAi.operations.chatComplete as Operation;
    const reply = { choices: [{ index: 0, finish_reason: 'eos' }] };
    expect(operation.fromProvider?.(reply, callOf({}, { strict: false }, {}))).toBe(reply);
  });
});

describe('renamed parameters', () => {
  it("lose against the provider's own name if both are sent", () => {
    const params = { max_tokens: 5, max_completion_tokens: 9 };
    const call = callOf(params, {}, {});
    expect((togetherAi.operations.chatComplete as Operation).toProvider?.(params, call)).toEqual({ max_tokens: 5 });
  });
});

describe('addresses of OpenAI-compatible providers', () => {
  const path = (operation: Operation | undefined, settings = {}) => operation?.path(callOf({}, {}, settings));

  it('put the API below the base URL, for unified and pass-through calls', () => {
    expect(openai.baseUrl({}) + path(chat)).toBe('https://api.openai.com/v1/chat/completions');
    expect(openai.baseUrl({}) + openai.proxyPath?.('/files', {})).toBe('https://api.openai.com/v1/files');
    expect(openrouter.baseUrl({}) + path(openrouter.operations.chatComplete)).toBe(
      'https://openrouter.ai/api/v1/chat/completions',
    );
    expect(openrouter.baseUrl({}) + openrouter.proxyPath?.('/key', {})).toBe('https://openrouter.ai/api/v1/key');
  });

  it('come from the user for ollama, with or without /v1, and are required', () => {
    const operation = ollama.operations.chatComplete;
    expect(path(operation, { custom_host: 'http://localhost:11434' })).toBe('/v1/chat/completions');
    expect(path(operation, { custom_host: 'http://localhost:11434/v1' })).toBe('/chat/completions');
    expect(ollama.proxyPath?.('/models', { custom_host: 'http://localhost:11434' })).toBe('/v1/models');
    expect(ollama.proxyPath?.('/api/tags', { custom_host: 'http://localhost:11434' })).toBe('/api/tags');
    expect(() => ollama.baseUrl({})).toThrow(/ollama.*custom_host/);
  });
});

describe('openai account headers', () => {
  it('have organisation, project and beta with the credential', () => {
    const settings = { openai_organization: 'org-1', openai_project: 'proj-1', openai_beta: 'assistants=v2' };
    expect(openai.headers(settings, { api_key: new Secret('sk') })).toEqual([
      ...['authorization', 'Bearer sk', 'openai-organization', 'org-1'],
      ...['openai-project', 'proj-1', 'openai-beta', 'assistants=v2'],
    ]);
  });
});
