/** Provider types of data-plane reference §7, and `mock`, the built-in one. */
const ids = new Set(
  `302ai ai21 aibadgr anthropic anyscale azure-ai azure-openai bedrock bytez cerebras cohere cometapi cortex byteplus dashscope databricks
  deepbricks deepgram deepinfra deepseek featherless-ai fireworks-ai github google groq huggingface hyperbolic inference-net
  iointelligence jina kluster-ai krutrim lambda latitude lemonfox-ai lepton lingyi matterai meshy milvus mistral-ai mock modal
  monsterapi moonshot ncompass nebius nextbit nomic novita-ai nscale ollama openai openrouter oracle ovhcloud palm
  perplexity-ai pinecone predibase qdrant recraft-ai reka-ai replicate sagemaker sambanova segmind siliconflow stability-ai
  together-ai tripo3d triton upstage vertex-ai voyage workers-ai x-ai z-ai zhipu`.split(/\s+/),
);

/** Older spellings that clients still send. */
const aliases: Readonly<Record<string, string>> = { 'open-ai': 'openai', 'hugging-face': 'huggingface', xai: 'x-ai' };

/** All types under their one true spelling. */
export const providerTypes: readonly string[] = [...ids].sort();

export function isProviderId(id: string): boolean {
  return ids.has(aliases[id] ?? id);
}

/** The id in its one true spelling. */
export function canonicalProviderId(id: string): string {
  return aliases[id] ?? id;
}

/** Whether calls of this provider type work without a credential. */
export function needsNoKey(id: string): boolean {
  return id === 'mock' || id === 'ollama' || id === 'triton';
}
