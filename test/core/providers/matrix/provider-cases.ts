import type { Format } from './scenarios.ts';
import { anthropic, anthropicOnBedrock } from './wires/anthropic.ts';
import { cohere } from './wires/cohere.ts';
import { converse } from './wires/converse.ts';
import { gemini } from './wires/gemini.ts';
import { mistral } from './wires/mistral.ts';
import { openAiChat } from './wires/openai-chat.ts';
import { openAiResponses } from './wires/openai-responses.ts';
import type { Wire } from './wires/wire.ts';

/** One provider of the matrix: the model that is called and how the provider answers each format. */
export interface ProviderCase {
  readonly id: string;
  readonly model: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly wires: Readonly<Record<Format, Wire>>;
}

const all = (wire: Wire): ProviderCase['wires'] => ({ chat: wire, messages: wire, responses: wire });
const openAi = { ...all(openAiChat), responses: openAiResponses };

export const providerCases: readonly ProviderCase[] = [
  { id: 'openai', model: 'gpt-5-mini', settings: {}, wires: openAi },
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
