/**
 * Names of the semantic conventions for generative AI in version 1.41, the last one released with the main conventions. All of
 * them are still marked as in development.
 */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.41.1';

export const genAi = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  outputType: 'gen_ai.output.type',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  firstChunkSeconds: 'gen_ai.response.time_to_first_chunk',
} as const;

interface GenAiOperation {
  readonly name: string;
  readonly outputType?: 'text' | 'image' | 'speech';
}

/** Operations by the endpoint's name. The conventions have no name for the others, which keep their own. */
const operations: Readonly<Record<string, GenAiOperation>> = {
  chatComplete: { name: 'chat' },
  messages: { name: 'chat' },
  createModelResponse: { name: 'chat' },
  complete: { name: 'text_completion', outputType: 'text' },
  embed: { name: 'embeddings' },
  imageGenerate: { name: 'generate_content', outputType: 'image' },
  imageEdit: { name: 'generate_content', outputType: 'image' },
  imageVariation: { name: 'generate_content', outputType: 'image' },
  createSpeech: { name: 'generate_content', outputType: 'speech' },
  createTranscription: { name: 'generate_content', outputType: 'text' },
  createTranslation: { name: 'generate_content', outputType: 'text' },
};

export function genAiOperation(endpoint: string | null): GenAiOperation {
  return (endpoint !== null && Object.hasOwn(operations, endpoint) && operations[endpoint]) || { name: endpoint ?? 'unknown' };
}
