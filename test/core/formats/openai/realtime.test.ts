import { expect, it } from 'vitest';
import { azureAi } from '../../../../core/providers/azure-ai/index.ts';
import { azureOpenAi } from '../../../../core/providers/azure-openai/index.ts';
import { openai } from '../../../../core/providers/openai/index.ts';
import { xAi } from '../../../../core/providers/x-ai/index.ts';

const path = (adapter: typeof azureOpenAi, query: string, settings: object = {}) => {
  const given = new URLSearchParams(query);
  return adapter.realtime?.path(given, given.get('model') ?? '', settings as Record<string, unknown>);
};

it.each([
  [openai, 'model=gpt-realtime', {}, '/realtime?model=gpt-realtime'],
  [openai, 'call_id=rtc_1', {}, '/realtime?call_id=rtc_1'],
  [openai, '', {}, '/realtime'],
  [xAi, 'model=grok-voice', {}, '/realtime?model=grok-voice'],
  [azureOpenAi, 'model=gpt-realtime', {}, '/openai/v1/realtime?model=gpt-realtime'],
  [azureOpenAi, 'intent=transcription', {}, '/openai/v1/realtime?intent=transcription'],
  [azureOpenAi, 'model=m', { azure_deployment_id: 'mine' }, '/openai/v1/realtime?model=mine'],
  [
    azureOpenAi,
    'model=m',
    { azure_api_version: '2025-04-01-preview' },
    '/openai/realtime?api-version=2025-04-01-preview&deployment=m',
  ],
  [
    azureOpenAi,
    'api-version=2024-10-01-preview&deployment=d',
    {},
    '/openai/realtime?api-version=2024-10-01-preview&deployment=d',
  ],
  [azureOpenAi, 'model=m', { custom_host: 'https://a.example/openai/v1' }, '/realtime?model=m'],
  [azureAi, 'model=m', { azure_foundry_url: 'https://r.services.ai.azure.com' }, '/openai/v1/realtime?model=m'],
] as const)('%# a session is asked for where the provider has it', (adapter, query, settings, expected) => {
  expect(path(adapter as typeof azureOpenAi, query, settings)).toBe(expected);
});
