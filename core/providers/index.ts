import { withClientCredentials } from '../cloud-auth/oauth-client-credentials.ts';
import { withFederation } from '../cloud-auth/workload-federation.ts';
import type { ProviderAdapter } from '../contract/provider/provider.ts';
import { providerAliases } from '../contract/provider/provider-aliases.ts';
import { keptResponses } from '../formats/stored/stored-responses.ts';
import { messagesOverChat } from '../translate/messages-over-chat/messages-over-chat.ts';
import type { ChatExtras } from '../translate/messages-over-chat/request.ts';
import { responsesOverChat } from '../translate/responses-over-chat/responses-over-chat.ts';
import { anthropic } from './anthropic/index.ts';
import { claudePlatformAws } from './anthropic/platform-on-aws.ts';
import { azureAi } from './azure-ai/index.ts';
import { azureOpenAi } from './azure-openai/index.ts';
import { bedrock } from './bedrock/index.ts';
import { bedrockMantle } from './bedrock-mantle/index.ts';
import { cohere } from './cohere/index.ts';
import { compatibleRows } from './compatible-rows/index.ts';
import { deepgram } from './deepgram/index.ts';
import { deepseek } from './deepseek/index.ts';
import { fireworksAi } from './fireworks-ai/index.ts';
import { google } from './google/index.ts';
import { groq } from './groq/index.ts';
import { mistralAi } from './mistral-ai/index.ts';
import { mock } from './mock/index.ts';
import { ollama } from './ollama/index.ts';
import { openai } from './openai/index.ts';
import { openrouter } from './openrouter/index.ts';
import { oracle } from './oracle/index.ts';
import { perplexityAi } from './perplexity-ai/index.ts';
import { pinecone } from './pinecone/index.ts';
import { predibase } from './predibase/index.ts';
import { rekaAi } from './reka-ai/index.ts';
import { sagemaker } from './sagemaker/index.ts';
import { segmind } from './segmind/index.ts';
import { stabilityAi } from './stability-ai/index.ts';
import { togetherAi } from './together-ai/index.ts';
import { triton } from './triton/index.ts';
import { vertexAi } from './vertex-ai/index.ts';
import { xAi } from './x-ai/index.ts';

/** Every provider, as its folder exports it. A new one is one line here. */
const adapters: readonly ListedAdapter[] = [
  openai,
  anthropic,
  azureAi,
  azureOpenAi,
  bedrock,
  bedrockMantle,
  claudePlatformAws,
  cohere,
  deepgram,
  deepseek,
  fireworksAi,
  google,
  groq,
  mistralAi,
  mock,
  ollama,
  openrouter,
  oracle,
  perplexityAi,
  pinecone,
  predibase,
  rekaAi,
  sagemaker,
  segmind,
  stabilityAi,
  togetherAi,
  triton,
  vertexAi,
  xAi,
  ...compatibleRows,
];

const byId: ReadonlyMap<string, ProviderAdapter> = new Map(
  adapters.map((adapter) => [adapter.id, withFederation(withClientCredentials(withAdapters(adapter)))]),
);

/**
 * The providers by their id of data-plane §7 and by its other spellings (which lead to the one adapter, with its own id), each with the
 * operations and the authentication that adapters add.
 */
export const providers: ReadonlyMap<string, ProviderAdapter> = new Map([
  ...byId,
  ...Object.entries(providerAliases).map(([alias, id]) => [alias, byId.get(id) as ProviderAdapter] as const),
]);

type ListedAdapter = ProviderAdapter & { readonly chatExtras?: ChatExtras };

/** The provider with the formats it lacks answered through those it has: Messages and Responses calls over its chat completions. */
export function withAdapters(adapter: ListedAdapter): ProviderAdapter {
  const { chatComplete, messages, createModelResponse } = adapter.operations;
  if (!chatComplete) return adapter;
  return {
    ...adapter,
    operations: {
      ...adapter.operations,
      messages: messages ?? messagesOverChat(chatComplete, adapter.chatExtras),
      createModelResponse: createModelResponse ?? responsesOverChat(chatComplete, adapter.chatExtras),
      ...keptResponses(adapter),
    },
  };
}
