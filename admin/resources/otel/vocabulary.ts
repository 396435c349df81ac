import { parseObject } from '../../../core/contract/values/json/json.ts';
import type { Attributes } from './items.ts';

/**
 * Attributes of calls to models by what they state: the names of OpenTelemetry's conventions first, then the older ones of its instrumentations,
 * then those of OpenInference (https://arize-ai.github.io/openinference/spec/semantic_conventions.html). The first one that is present counts.
 */
export const names = {
  model: [
    'gen_ai.response.model',
    'gen_ai.request.model',
    'llm.response.model_name',
    'llm.model_name',
    'llm.request.model_name',
    'embedding.model_name',
    'reranker.model_name',
  ],
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system'],
  inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt'],
  outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
  cacheReadTokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
  ],
  cacheWriteTokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
  ],
  reasoningTokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
  ],
  audioInputTokens: ['llm.token_count.prompt_details.audio'],
  audioOutputTokens: ['llm.token_count.completion_details.audio'],
  conversation: ['gen_ai.conversation.id', 'session.id'],
  user: ['user.id', 'enduser.id'],
} as const;

/** Names of providers that are neither ids of providers nor names of the conventions. */
export const providerNames: ReadonlyMap<string, string> = new Map([
  ['az.ai.openai', 'azure-openai'],
  ['az.ai.inference', 'azure-ai'],
  ['vertex_ai', 'vertex-ai'],
  ['vertexai', 'vertex-ai'],
  ['gemini', 'google'],
  ['azure', 'azure-openai'],
  ['aws', 'bedrock'],
  ['mistralai', 'mistral-ai'],
  ['xai', 'x-ai'],
  ['together', 'together-ai'],
  ['fireworks', 'fireworks-ai'],
  ['perplexity', 'perplexity-ai'],
]);

/** Endpoints by `gen_ai.operation.name`. */
const operations: ReadonlyMap<string, string> = new Map([
  ['chat', 'chatComplete'],
  ['generate_content', 'chatComplete'],
  ['text_completion', 'complete'],
  ['embeddings', 'embed'],
]);
/** Operations whose spans sum up the calls inside them, or are none. */
const notCalls: ReadonlySet<string> = new Set(['create_agent', 'invoke_agent', 'invoke_workflow', 'execute_tool', 'plan']);

/** Endpoints by `openinference.span.kind`. Spans of other kinds may repeat the usage of the calls inside them. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['LLM', 'chatComplete'],
  ['EMBEDDING', 'embed'],
  ['RERANKER', 'rerank'],
]);

/** Returns the endpoint of a call, null if it is unknown, and undefined for spans and log records of other work. */
export function endpointOf(attributes: Attributes): string | null | undefined {
  const kind = attributes['openinference.span.kind'];
  if (typeof kind === 'string') return kinds.get(kind);
  const operation = attributes['gen_ai.operation.name'];
  if (typeof operation !== 'string') return null;
  return notCalls.has(operation) ? undefined : (operations.get(operation) ?? null);
}

/** Returns the model of a failed call, which OpenInference has only in the parameters of the call, as JSON. Null if there is none. */
export function modelInParameters(attributes: Attributes): string | null {
  for (const name of ['llm.invocation_parameters', 'embedding.invocation_parameters']) {
    const text = attributes[name];
    const model = typeof text === 'string' ? parseObject(text)?.model : undefined;
    if (typeof model === 'string' && model !== '') return model;
  }
  return null;
}
