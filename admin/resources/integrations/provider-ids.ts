import { didYouMean } from '../../../config/did-you-mean.ts';
import { canonicalProviderId } from '../../../core/contract/provider/provider-aliases.ts';

export { canonicalProviderId };

/** Every provider type a gateway knows, and `mock`, the built-in one. `test/core/providers/index.test.ts` compares the two. */
const ids = new Set(
  `302ai ai21 aibadgr anthropic anyscale azure-ai azure-openai bedrock bedrock-mantle byteplus bytez cerebras claude-platform-aws cohere
  cometapi cortex dashscope databricks deepbricks deepgram deepinfra deepseek ember-cloud fal-ai featherless-ai fireworks-ai github
  google groq huggingface hyperbolic inference-net iointelligence jina kluster-ai krutrim lambda latitude lemonfox-ai lepton
  lightning-ai lingyi matterai meshy milvus minimax mistral-ai mock modal monsterapi moonshot ncompass nebius nextbit nomic novita-ai
  nscale ollama openai openrouter oracle ovhcloud perplexity-ai pinecone predibase qdrant recraft-ai reka-ai replicate sagemaker
  sambanova scenario-ai segmind siliconflow stability-ai together-ai tripo3d triton upstage vertex-ai voyage workers-ai x-ai z-ai
  zhipu`.split(/\s+/),
);

/** All types under their one true spelling. */
export const providerTypes: readonly string[] = [...ids].sort();

export function isProviderId(id: string): boolean {
  return ids.has(canonicalProviderId(id));
}

/** Says that there is no such provider type, which one is probably meant, and where all are listed. */
export function unknownProviderType(id: string): string {
  return `no provider type of this name${didYouMean(id, providerTypes)}`;
}

/** Whether calls of this provider type work without a credential. */
export function needsNoKey(id: string): boolean {
  return id === 'mock' || id === 'ollama' || id === 'triton';
}
