import type { Format } from './scenarios.ts';
import { anthropic, anthropicOnBedrock } from './wires/anthropic.ts';
import { cohere } from './wires/cohere.ts';
import { converse } from './wires/converse.ts';
import { gemini } from './wires/gemini.ts';
import { mistral } from './wires/mistral.ts';
import { openAiChat } from './wires/openai-chat.ts';
import { openAiResponses } from './wires/openai-responses.ts';
import type { Wire } from './wires/wire.ts';

/** One provider of the matrix: the called model, and the provider's responses by format. */
export interface ProviderCase {
  readonly id: string;
  /** Name in tests and golden files, if a provider is called in more than one way. Otherwise its id. */
  readonly name: string;
  readonly model: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly wires: Readonly<Record<Format, Wire>>;
}

const all = (wire: Wire): ProviderCase['wires'] => ({ chat: wire, messages: wire, responses: wire });
const openAi = { ...all(openAiChat), responses: openAiResponses };

const cases: readonly (Omit<ProviderCase, 'name'> & { readonly name?: string })[] = [
  { id: 'openai', model: 'gpt-5-mini', settings: {}, wires: openAi },
  // A model without chat completions. Chat and Messages calls reach it through the Responses API.
  { id: 'openai', name: 'openai-responses-only', model: 'gpt-5-codex', settings: {}, wires: all(openAiResponses) },
  { id: 'anthropic', model: 'claude-opus-4-6', settings: {}, wires: all(anthropic) },
  { id: 'google', model: 'gemini-3.8-flash', settings: {}, wires: all(gemini) },
  {
    id: 'bedrock',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    settings: { aws_region: 'eu-central-1' },
    wires: { ...all(converse), messages: anthropicOnBedrock },
  },
  { id: 'azure-openai', model: 'gpt-5-mini', settings: { azure_resource_name: 'res', azure_api_version: 'v1' }, wires: openAi },
  { id: 'mistral-ai', model: 'magistral-small-latest', settings: {}, wires: all(mistral) },
  { id: 'cohere', model: 'command-a-reasoning-08-2025', settings: {}, wires: all(cohere) },
];

export const providerCases: readonly ProviderCase[] = cases.map((one) => ({ ...one, name: one.name ?? one.id }));
