import type { AttemptRecord, RequestRecord } from '../../contract/plugin/record/record.ts';

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
  tokenType: 'gen_ai.token.type',
  maxTokens: 'gen_ai.request.max_tokens',
  temperature: 'gen_ai.request.temperature',
  topP: 'gen_ai.request.top_p',
  topK: 'gen_ai.request.top_k',
  stopSequences: 'gen_ai.request.stop_sequences',
  frequencyPenalty: 'gen_ai.request.frequency_penalty',
  presencePenalty: 'gen_ai.request.presence_penalty',
  seed: 'gen_ai.request.seed',
  choiceCount: 'gen_ai.request.choice.count',
  encodingFormats: 'gen_ai.request.encoding_formats',
  dimensions: 'gen_ai.embeddings.dimension.count',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolDefinitions: 'gen_ai.tool.definitions',
} as const;

/** Names of the conventions for agents in the same version. */
export const agent = {
  invoke: 'invoke_agent',
  name: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
} as const;

/** Names of the conventions for MCP in the same version. Tool calls also have the names of those for generative AI. */
export const mcp = {
  method: 'mcp.method.name',
  protocolVersion: 'mcp.protocol.version',
  resourceUri: 'mcp.resource.uri',
  rpcStatus: 'rpc.response.status_code',
  toolName: 'gen_ai.tool.name',
  promptName: 'gen_ai.prompt.name',
  executeTool: 'execute_tool',
} as const;

const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92] as const;

/** Client metrics with the units and bounds of buckets that the conventions recommend. */
export const genAiMetrics = {
  tokens: {
    name: 'gen_ai.client.token.usage',
    description: 'Number of input and output tokens used',
    unit: '{token}',
    bounds: [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864],
  },
  duration: {
    name: 'gen_ai.client.operation.duration',
    description: 'Duration of attempts at providers',
    unit: 's',
    bounds: secondBounds,
  },
  firstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    description: 'Time from the start of an attempt to the first chunk of its stream',
    unit: 's',
    bounds: secondBounds,
  },
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

/** Returns the operation in the semantic conventions of OpenTelemetry. An endpoint without one has its own name. */
export function genAiOperation(endpoint: string | null): GenAiOperation {
  return (endpoint !== null && Object.hasOwn(operations, endpoint) && operations[endpoint]) || { name: endpoint ?? 'unknown' };
}

/** Returns the model that an attempt called. Targets of one request may have different models. */
export function modelOf({ model }: AttemptRecord, record: Pick<RequestRecord, 'model'>): string | null {
  return model ?? record.model;
}
