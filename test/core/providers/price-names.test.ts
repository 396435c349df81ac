import { expect, it } from 'vitest';
import { priceNamesOf } from '../../../core/providers/declarations.ts';

it.each<[string, string, string, string[]]>([
  ['openai', 'ft:gpt-5-mini:acme::abc', 'openai', ['ft:gpt-5-mini:acme::abc', 'gpt-5-mini']],
  ['azure-openai', 'gpt-5-mini.ft-0a1b', 'azure', ['gpt-5-mini.ft-0a1b', 'gpt-5-mini']],
  ['azure-ai', 'gpt-5-mini.ft-0a1b', 'azure', ['gpt-5-mini.ft-0a1b', 'gpt-5-mini']],
  ['bedrock', 'eu.anthropic.claude-x', 'aws', ['eu.anthropic.claude-x', 'anthropic.claude-x']],
  ['google', 'models/gemini-x-gt-128k', 'google', ['models/gemini-x-gt-128k', 'gemini-x']],
  ['vertex-ai', 'gemini-x', 'google', ['gemini-x']],
  ['vertex-ai', 'google/gemini-x', 'google', ['google/gemini-x', 'gemini-x']],
  ['vertex-ai', 'google.gemini-x.5-pro', 'google', ['google.gemini-x.5-pro', 'gemini-x.5-pro']],
  ['vertex-ai', 'gemini-x.5-pro', 'google', ['gemini-x.5-pro']],
  ['vertex-ai', 'publishers/google/models/gemini-x', 'google', ['publishers/google/models/gemini-x', 'gemini-x']],
  [
    'vertex-ai',
    'projects/p/locations/l/publishers/x/models/m@1',
    'google',
    ['projects/p/locations/l/publishers/x/models/m@1', 'm@1'],
  ],
  ['openrouter', 'openai/gpt-x:nitro', 'openrouter', ['openai/gpt-x:nitro', 'openai/gpt-x']],
  ['openrouter', 'openai/gpt-x:free', 'openrouter', ['openai/gpt-x:free']],
  ['groq', 'ft:a', 'groq', ['ft:a']],
  ['unknown-provider', 'eu.a', 'unknown-provider', ['eu.a']],
])('price names: %s calls %s by the names of its declaration', (provider, model, id, names) => {
  expect(priceNamesOf(provider, model)).toEqual({ id, names });
});
