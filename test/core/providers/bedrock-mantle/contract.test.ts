import { describe, expect, it } from 'vitest';
import { findHeader } from '../../../../core/contract/values/http/http.ts';
import { bedrockMantle } from '../../../../core/providers/bedrock-mantle/index.ts';
import { createHarness, providerDocument, replyWith, workspaceId } from '../../../../core/test-kit/pipeline-harness.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(bedrockMantle, {
  settings: { aws_region: 'eu-west-1' },
  finishReasons: { stop: 'stop', length: 'length', tool_calls: 'tool_calls' },
});

describe('calls to bedrock-mantle', () => {
  async function sentBy(secrets: object, path: string, model: string, clientHeaders: Record<string, string> = {}) {
    const gateway = createHarness();
    gateway.documents.set(`provider ${workspaceId}/mantle`, {
      ...providerDocument('mantle', 'bedrock-mantle'),
      settings: { aws_region: 'eu-west-1' },
      secrets: JSON.stringify(secrets),
    });
    gateway.script(replyWith(200, {}));
    const body = { model, max_tokens: 99, messages: [{ role: 'user', content: 'hi' }] };
    await gateway.send({ path, headers: { 'x-svc-provider': '@mantle', ...clientHeaders }, body });
    const call = gateway.calls[0];
    return { url: `${call?.origin}${call?.path}`, header: (name: string) => findHeader(call?.headers ?? [], name) };
  }
  const host = 'https://bedrock-mantle.eu-west-1.api.aws';

  it.each([
    ['/v1/chat/completions', 'openai.gpt-oss-120b', '/v1/chat/completions'],
    ['/v1/chat/completions', 'openai.gpt-5.5', '/openai/v1/responses'],
    ['/v1/messages', 'openai.gpt-5.5', '/openai/v1/responses'],
    ['/v1/chat/completions', 'anthropic.claude-opus-4-8', '/anthropic/v1/messages'],
    ['/v1/messages', 'anthropic.claude-opus-4-8', '/anthropic/v1/messages'],
    ['/v1/messages', 'qwen.qwen3-32b', '/v1/chat/completions'],
    ['/v1/anything', 'm', '/v1/anything'],
    ['/v1/proxy/anthropic/v1/messages', 'm', '/anthropic/v1/messages'],
  ])('for %s with %s go to %s, with a key or a signature', async (path, model, below) => {
    const byKey = await sentBy({ api_key: 'bedrock-api-key-1' }, path, model);
    expect([byKey.url, byKey.header('authorization')]).toEqual([host + below, 'Bearer bedrock-api-key-1']);
    expect(byKey.header('anthropic-version')).toBe(below.startsWith('/anthropic') ? '2023-06-01' : undefined);
    const signed = await sentBy({ aws_access_key_id: 'AKIDEXAMPLE', aws_secret_access_key: 'secret' }, path, model);
    expect(signed.url).toBe(host + below);
    expect(signed.header('authorization')).toMatch(/Credential=AKIDEXAMPLE\/\d{8}\/eu-west-1\/bedrock-mantle\/aws4_request/);
  });

  const claude = 'anthropic.claude-opus-4-8';
  it.each([
    ['/v1/messages', claude, 'effort-2025-11-24,tool-search-tool-2025-10-19'],
    ['/v1/messages/count_tokens', claude, 'effort-2025-11-24,tool-search-tool-2025-10-19'],
    ['/v1/chat/completions', claude, 'effort-2025-11-24,tool-search-tool-2025-10-19'],
    ['/v1/messages', 'openai.gpt-5.5', undefined],
    ['/v1/proxy/anthropic/v1/messages', claude, 'effort-2025-11-24,advanced-tool-use-2025-11-20,skills-2025-10-02'],
  ])('for %s with %s have the beta features that the endpoint has: %s', async (path, model, expected) => {
    const betas = { 'anthropic-beta': 'effort-2025-11-24,advanced-tool-use-2025-11-20,skills-2025-10-02' };
    const { header } = await sentBy({ api_key: 'bedrock-api-key-1' }, path, model, betas);
    expect(header('anthropic-beta')).toBe(expected);
  });

  it('have no header if the endpoint has none of the client’s beta features', async () => {
    const betas = { 'anthropic-beta': 'mcp-client-2025-11-20' };
    const { header } = await sentBy({ api_key: 'bedrock-api-key-1' }, '/v1/messages', claude, betas);
    expect(header('anthropic-beta')).toBeUndefined();
  });
});
