import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { OperationName, OutgoingCall } from '../../../../core/contract/provider/provider.ts';
import { Secret } from '../../../../core/contract/values/credentials/secret.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { azureAi } from '../../../../core/providers/azure-ai/index.ts';
import { noTokens } from '../../formats/token-services.ts';
import { callOf } from '../contract-suite.ts';

function urlOf(given: JsonObject, model: string, name: OperationName = 'chatComplete'): string {
  const settings = v.parse(azureAi.settings, given);
  return `${azureAi.baseUrl(settings)}${azureAi.operations[name]?.path(callOf({ model }, {}, settings))}`;
}

const host = 'https://r.services.ai.azure.com';
const dated = { azure_api_version: '2024-05-01-preview' };

describe('the address of azure-ai', () => {
  it.each([
    [{ azure_foundry_url: host }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: `${host}/` }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: `${host}/openai/v1/` }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: `${host}/anthropic` }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: `${host}/api/projects/p` }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: host, azure_api_version: 'v1' }, `${host}/openai/v1/chat/completions`],
    [{ azure_foundry_url: host, azure_api_version: 'preview' }, `${host}/openai/v1/chat/completions?api-version=preview`],
    [
      { azure_foundry_url: `${host}/models`, azure_api_version: 'v1' },
      `${host}/models/chat/completions?api-version=2024-05-01-preview`,
    ],
    [{ azure_foundry_url: host, ...dated }, `${host}/models/chat/completions?api-version=2024-05-01-preview`],
    [{ azure_foundry_url: `${host}/models` }, `${host}/models/chat/completions?api-version=2024-05-01-preview`],
    [
      { azure_foundry_url: `${host}/models/chat/completions?api-version=2024-05-01-preview` },
      `${host}/models/chat/completions?api-version=2024-05-01-preview`,
    ],
    [
      { azure_foundry_url: `${host}/openai/deployments/gpt-4o`, azure_api_version: '2024-10-21' },
      `${host}/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21`,
    ],
    [{ azure_foundry_url: 'https://apim.example.com/ai' }, 'https://apim.example.com/ai/openai/v1/chat/completions'],
    [
      { custom_host: 'https://apim.example.com/ai/models' },
      'https://apim.example.com/ai/models/chat/completions?api-version=2024-05-01-preview',
    ],
    [
      { azure_deployment_type: 'serverless', azure_deployment_name: 'Mistral-Large', azure_region: 'eastus' },
      'https://mistral-large.eastus.models.ai.azure.com/chat/completions?api-version=2024-05-01-preview',
    ],
    [
      { azure_deployment_type: 'managed', azure_endpoint_name: 'mine', azure_region: 'eastus' },
      'https://mine.eastus.inference.ml.azure.com/score/chat/completions?api-version=2024-05-01-preview',
    ],
  ] as const)('with %j', (given, url) => {
    const custom = 'custom_host' in given ? given.custom_host : null;
    const settings = v.parse(azureAi.settings, given);
    const path = azureAi.operations.chatComplete?.path(callOf({ model: 'Phi-4' }, {}, settings));
    expect(`${custom ?? azureAi.baseUrl(settings)}${path}`).toBe(url);
  });

  it.each([host, `${host}/models`, `${host}/openai/v1`, `${host}/anthropic/v1`, `${host}/anthropic/v1/messages`])(
    'for a Claude model is that of the Messages API, even if %s points elsewhere',
    (url) => {
      expect(urlOf({ azure_foundry_url: url }, 'claude-sonnet-4-5')).toBe(`${host}/anthropic/v1/messages`);
      expect(urlOf({ azure_foundry_url: url, azure_deployment_name: 'my-claude' }, 'any', 'messages')).toBe(
        `${host}/anthropic/v1/messages`,
      );
    },
  );

  const serverless = { azure_deployment_type: 'serverless', azure_deployment_name: 'm', azure_region: 'eastus' };
  const alone = 'https://m.eastus.models.ai.azure.com';
  const functions: [OperationName, string, JsonObject, string][] = [
    ['imageGenerate', 'FLUX.1-Kontext-pro', { azure_foundry_url: host }, `${host}/openai/v1/images/generations`],
    ['imageGenerate', 'FLUX.1-Kontext-pro', { azure_foundry_url: host, ...dated }, `${host}/openai/v1/images/generations`],
    [
      'imageGenerate',
      'FLUX.2-pro',
      { azure_foundry_url: host },
      `${host}/providers/blackforestlabs/v1/flux-2-pro?api-version=preview`,
    ],
    ['imageEdit', 'FLUX.1-Kontext-pro', { azure_foundry_url: `${host}/models` }, `${host}/openai/v1/images/edits`],
    [
      'createSpeech',
      'any',
      { azure_foundry_url: `${host}/openai/deployments/tts`, azure_api_version: '2025-03-01-preview' },
      `${host}/openai/deployments/tts/audio/speech?api-version=2025-03-01-preview`,
    ],
    ['createTranscription', 'whisper', { azure_foundry_url: host }, `${host}/openai/v1/audio/transcriptions`],
    ['rerank', 'Cohere-rerank-v4.0-pro', { azure_foundry_url: `${host}/models` }, `${host}/providers/cohere/v2/rerank`],
    ['rerank', 'Cohere-rerank-v3.5', serverless, `${alone}/v2/rerank`],
    ['ocr', 'mistral-document-ai-2512', { azure_foundry_url: host }, `${host}/providers/mistral/azure/ocr`],
    ['ocr', 'mistral-ocr-2503', serverless, `${alone}/v1/ocr`],
  ];
  it.each(functions)('for %s by %s with %j', (name, model, given, url) => {
    expect(urlOf(given, model, name)).toBe(url);
  });

  it('for the list of models is that of the resource, or the endpoint’s own', () => {
    const listed = (given: JsonObject) => azureAi.models?.path(v.parse(azureAi.settings, given));
    expect(listed({ azure_foundry_url: `${host}/models` })).toBe('/openai/v1/models');
    expect(listed(serverless)).toBe('/info?api-version=2024-05-01-preview');
    const one = { model_name: 'Phi-4', model_type: 'chat-completion', model_provider_name: 'Microsoft' };
    expect(azureAi.models?.read(one).models).toEqual([{ id: 'Phi-4', created: 0, ownedBy: 'Microsoft' }]);
    const several = { data: [{ id: 'gpt-4o', object: 'model', created_at: 7, status: 'succeeded' }, { id: 8 }] };
    expect(azureAi.models?.read(several).models).toEqual([
      { id: 'gpt-4o', created: 7, ownedBy: '', more: { status: 'succeeded' } },
    ]);
  });

  it('needs a resource or the parts of an endpoint, and the error names what is missing', () => {
    expect(() => urlOf({}, 'm')).toThrow(/azure_foundry_url/);
    expect(() => urlOf({ azure_deployment_type: 'serverless', azure_deployment_name: 'a' }, 'm')).toThrow(/azure_region/);
    expect(() => urlOf({ azure_deployment_type: 'managed', azure_region: 'a' }, 'm')).toThrow(/azure_endpoint_name/);
    const dotted = { azure_deployment_type: 'serverless', azure_deployment_name: 'a.evil', azure_region: 'x' };
    expect(() => urlOf(dotted, 'm')).toThrow(/azure_deployment_name/);
  });
});

describe('headers of azure-ai', () => {
  const key = { api_key: new Secret('k') };
  const signed = (given: JsonObject, path: string) => {
    const settings = v.parse(azureAi.settings, given);
    const call: OutgoingCall = { method: 'POST', origin: host, path, headers: [...azureAi.headers(settings, key)], body: null };
    void azureAi.sign?.(call, settings, key, noTokens);
    return call.headers;
  };

  it('carry the key under the name of each API', () => {
    expect(signed({ azure_foundry_url: host }, '/openai/v1/chat/completions')).toEqual(['api-key', 'k']);
    expect(signed({ azure_foundry_url: host }, '/anthropic/v1/messages')).toEqual([
      'x-api-key',
      'k',
      'anthropic-version',
      '2023-06-01',
    ]);
    expect(signed({ azure_foundry_url: host }, '/providers/cohere/v2/rerank')).toEqual(['authorization', 'Bearer k']);
    expect(signed({ azure_foundry_url: 'https://m.eastus.models.ai.azure.com' }, '/chat/completions?api-version=x')).toEqual([
      'authorization',
      'Bearer k',
      'extra-parameters',
      'drop',
    ]);
  });

  it('select the handling of unknown parameters and the deployment of an endpoint', () => {
    const managed = {
      azure_deployment_type: 'managed',
      azure_endpoint_name: 'mine',
      azure_region: 'eastus',
      azure_deployment_name: 'blue',
    };
    expect(signed({ ...managed, azure_extra_parameters: 'pass-through' }, '/score/chat/completions?api-version=x')).toEqual([
      'authorization',
      'Bearer k',
      'extra-parameters',
      'pass-through',
      'azureml-model-deployment',
      'blue',
    ]);
  });
});
