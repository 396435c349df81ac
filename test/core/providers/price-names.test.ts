import { expect, it } from 'vitest';
import { priceNamesOf } from '../../../core/providers/declarations.ts';

it.each([
  ['openai', 'ft:gpt-5-mini:acme::abc', 'openai', ['ft:gpt-5-mini:acme::abc', 'gpt-5-mini']],
  ['azure-openai', 'gpt-5-mini.ft-0a1b', 'azure', ['gpt-5-mini.ft-0a1b', 'gpt-5-mini']],
  ['azure-ai', 'gpt-5-mini.ft-0a1b', 'azure', ['gpt-5-mini.ft-0a1b', 'gpt-5-mini']],
  ['bedrock', 'eu.anthropic.claude-x', 'aws', ['eu.anthropic.claude-x', 'anthropic.claude-x']],
  ['google', 'models/gemini-x-gt-128k', 'google', ['models/gemini-x-gt-128k', 'gemini-x']],
  ['vertex-ai', 'gemini-x', 'google', ['gemini-x']],
  ['groq', 'ft:a', 'groq', ['ft:a']],
  ['unknown-provider', 'eu.a', 'unknown-provider', ['eu.a']],
])('price names: %s calls %s by the names of its declaration', (provider, model, id, names) => {
  expect(priceNamesOf(provider, model)).toEqual({ id, names });
});
