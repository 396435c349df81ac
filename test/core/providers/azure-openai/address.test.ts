import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { OperationName, OutgoingCall } from '../../../../core/contract/provider/provider.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';
import { azureOpenAi } from '../../../../core/providers/azure-openai/index.ts';
import { noTokens } from '../../formats/token-services.ts';
import { callOf } from '../contract-suite.ts';

const deployments = [
  { deployment_id: 'gpt-4o-prod', alias: 'fast', api_version: '2024-10-21', is_default: true },
  { deployment_id: 'gpt-5-prod', alias: 'clever', api_version: 'preview' },
];

/** Base URL and path of a call, joined as in the pipeline. */
function urlOf(given: JsonObject, model: string, name: OperationName = 'chatComplete'): string {
  const settings = v.parse(azureOpenAi.settings, given);
  const operation = azureOpenAi.operations[name];
  return `${azureOpenAi.baseUrl(settings)}${operation?.path(callOf({ model }, {}, settings))}`;
}

describe('the address of azure-openai', () => {
  it.each([
    [{ azure_resource_name: 'r' }, 'gpt-4o', 'https://r.openai.azure.com/openai/v1/chat/completions'],
    [
      { resource_name: 'r', deployment_id: 'd', api_version: '2024-10-21' },
      'gpt-4o',
      'https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21',
    ],
    [
      { azure_resource_name: 'r', azure_api_version: '2024-10-21' },
      'gpt-4o',
      'https://r.openai.azure.com/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21',
    ],
    [
      { azure_resource_name: 'r', deployments },
      'fast',
      'https://r.openai.azure.com/openai/deployments/gpt-4o-prod/chat/completions?api-version=2024-10-21',
    ],
    [
      { azure_resource_name: 'r', deployments },
      'nobody',
      'https://r.openai.azure.com/openai/deployments/gpt-4o-prod/chat/completions?api-version=2024-10-21',
    ],
    [
      { azure_resource_name: 'r', deployments },
      'clever',
      'https://r.openai.azure.com/openai/v1/chat/completions?api-version=preview',
    ],
    [
      { azure_resource_name: 'r', azure_api_version: '2024-10-21', custom_host: 'https://apim.example.com/ai/' },
      'd',
      'https://apim.example.com/ai/openai/deployments/d/chat/completions?api-version=2024-10-21',
    ],
    [
      { azure_api_version: '2024-10-21', custom_host: 'https://apim.example.com/openai' },
      'd',
      'https://apim.example.com/openai/deployments/d/chat/completions?api-version=2024-10-21',
    ],
    [{ custom_host: 'https://r.openai.azure.com/openai/v1' }, 'd', 'https://r.openai.azure.com/openai/v1/chat/completions'],
  ] as const)('with %j for model %s', (given, model, url) => {
    expect(urlOf(given as unknown as JsonObject, model)).toBe(url);
  });

  it('has a date for responses only if the API version requires it', () => {
    const at = (version: string) => urlOf({ azure_resource_name: 'r', azure_api_version: version }, 'd', 'createModelResponse');
    expect(at('2025-04-01-preview')).toBe('https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview');
    expect(at('2024-10-21')).toBe('https://r.openai.azure.com/openai/v1/responses');
  });

  it('is rejected if no row matches, naming the model', () => {
    const given = { azure_resource_name: 'r', deployments: [{ deployment_id: 'd', alias: 'a' }] };
    expect(() => urlOf(given, 'b')).toThrow(/"b".*No azure alias passed\/default config found/);
    expect(() => urlOf({ azure_resource_name: 'r' }, '')).toThrow(/model/);
    expect(() => urlOf({}, 'd')).toThrow(/azure_resource_name/);
  });

  it.each(['r.evil.example/', 'r#', 'r?x', 'r@evil.example', '../r', 'r.x', '', 'r\n'])(
    'rejects the resource name %j',
    (value) => {
      expect(v.safeParse(azureOpenAi.settings, { azure_resource_name: value }).success).toBe(false);
      expect(v.safeParse(azureOpenAi.settings, { azure_deployment_id: `${value}/x` }).success).toBe(false);
      expect(v.safeParse(azureOpenAi.settings, { azure_api_version: `2024-10-21${value}&a=b` }).success).toBe(false);
    },
  );
});

describe('pass-through to azure-openai', () => {
  const pathOf = (path: string, given: JsonObject): string => {
    const settings = v.parse(azureOpenAi.settings, { azure_resource_name: 'r', ...given });
    const call: OutgoingCall = {
      method: 'GET',
      origin: '',
      path: azureOpenAi.proxyPath?.(path, settings) ?? '',
      headers: [],
      body: null,
    };
    void azureOpenAi.sign?.(call, settings, {}, noTokens);
    return call.path;
  };

  it.each([
    ['/files', {}, '/openai/v1/files'],
    ['/images/generations', { azure_api_version: '2024-10-21' }, '/openai/v1/images/generations'],
    ['/files?limit=2', { azure_api_version: '2024-10-21' }, '/openai/files?limit=2&api-version=2024-10-21'],
    ['/files', { azure_api_version: '2024-10-21', azure_deployment_id: 'd' }, '/openai/files?api-version=2024-10-21'],
    [
      '/images/generations',
      { azure_api_version: '2024-10-21', azure_deployment_id: 'd' },
      '/openai/deployments/d/images/generations?api-version=2024-10-21',
    ],
    ['/images/generations', { deployments }, '/openai/deployments/gpt-4o-prod/images/generations?api-version=2024-10-21'],
    [
      '/openai/deployments/d/x?api-version=2023-05-15',
      { azure_api_version: '2024-10-21' },
      '/openai/deployments/d/x?api-version=2023-05-15',
    ],
  ] as const)('%s with %j goes to %s', (path, given, expected) => {
    expect(pathOf(path, given as unknown as JsonObject)).toBe(expected);
  });
});

describe('the path of a realtime session', () => {
  it.each([
    ['model=one&deployment=other', 'one', 'one'],
    ['deployment=one', '', 'one'],
  ])('names the deployment of the model that was checked: %s', (query, model, deployment) => {
    const settings = { azure_resource_name: 'r', azure_api_version: '2025-04-01-preview' };
    const path = azureOpenAi.realtime?.path(new URLSearchParams(query), model, v.parse(azureOpenAi.settings, settings));
    expect(new URLSearchParams(path?.split('?')[1]).get('deployment')).toBe(deployment);
  });
});
