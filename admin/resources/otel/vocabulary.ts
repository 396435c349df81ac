import { parseObject } from '../../../core/contract/values/json/json.ts';
import { declarations } from '../../../core/providers/declarations.ts';
import type { Attributes } from './items.ts';

/**
 * Attributes of calls to models by what they state: the names of OpenTelemetry's conventions first, then the older ones of its instrumentations,
 * then those of OpenInference (https://arize-ai.github.io/openinference/spec/semantic_conventions.html), then those of Vercel's AI SDK (`ai.*`,
 * https://ai-sdk.dev/docs/ai-sdk-core/telemetry), then those of Langfuse's SDKs. The first one that is present counts.
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
    'ai.response.model',
    'ai.model.id',
    'langfuse.observation.model.name',
  ],
  provider: ['gen_ai.provider.name', 'gen_ai.system', 'llm.provider', 'llm.system', 'ai.model.provider'],
  inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'ai.usage.tokens'],
  outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion'],
  cacheReadTokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read',
    'ai.usage.cachedInputTokens',
  ],
  cacheWriteTokens: [
    'gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_write.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens',
    'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens',
  ],
  reasoningTokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning',
    'ai.usage.reasoningTokens',
  ],
  audioInputTokens: ['llm.token_count.prompt_details.audio'],
  audioOutputTokens: ['llm.token_count.completion_details.audio'],
  conversation: ['gen_ai.conversation.id', 'session.id', 'langfuse.session.id'],
  user: ['user.id', 'enduser.id', 'langfuse.user.id'],
} as const;

/** Names of providers that are neither ids of providers nor names of the conventions. */
const providerNames: ReadonlyMap<string, string> = new Map([
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
  ['mistral', 'mistral-ai'],
  ['togetherai', 'together-ai'],
  ['amazon-bedrock', 'bedrock'],
  ['google.vertex', 'vertex-ai'],
  ['vertex', 'vertex-ai'],
]);

/** Ids of providers by the names that the conventions use now and have used before. */
const providers: ReadonlyMap<string, string> = new Map([
  ...declarations.flatMap(({ id, aliases, telemetryName }) =>
    [id, ...aliases, ...(telemetryName ? [telemetryName] : [])].map((name) => [name, id] as const),
  ),
  ...providerNames,
]);

/** Returns the id of a provider, or the name itself if it is unknown. The AI SDK adds the kind of model to names: `openai.chat`. */
export function providerOf(name: string): string {
  for (let part = name; part !== ''; part = part.slice(0, Math.max(0, part.lastIndexOf('.')))) {
    const id = providers.get(part);
    if (id !== undefined) return id;
  }
  return name;
}

/** Endpoints by `gen_ai.operation.name`. */
const operations: ReadonlyMap<string, string> = new Map([
  ['chat', 'chatComplete'],
  ['generate_content', 'chatComplete'],
  ['text_completion', 'complete'],
  ['embeddings', 'embed'],
  // LiteLLM
  ['embedding', 'embed'],
]);
/** Operations whose spans sum up the calls inside them, or are none. */
const notCalls: ReadonlySet<string> = new Set(['create_agent', 'invoke_agent', 'invoke_workflow', 'execute_tool', 'plan']);

/** Endpoints by `openinference.span.kind`. Spans of other kinds may repeat the usage of the calls inside them. */
const kinds: ReadonlyMap<string, string> = new Map([
  ['LLM', 'chatComplete'],
  ['EMBEDDING', 'embed'],
  ['RERANKER', 'rerank'],
]);

/** Endpoints by the last part of `ai.operationId`. Spans of other operations repeat the usage of the calls inside them. */
const aiSdkOperations: ReadonlyMap<string, string> = new Map([
  ['doGenerate', 'chatComplete'],
  ['doStream', 'chatComplete'],
  ['doEmbed', 'embed'],
  ['doRerank', 'rerank'],
]);

/** Endpoints by `langfuse.observation.type`. Observations of other types may repeat the usage of the calls inside them. */
const observations: ReadonlyMap<string, string> = new Map([
  ['generation', 'chatComplete'],
  ['embedding', 'embed'],
]);

/** Returns the endpoint of a call, null if it is unknown, and undefined for spans and log records of other work. */
export function endpointOf(attributes: Attributes): string | null | undefined {
  const kind = attributes['openinference.span.kind'];
  if (typeof kind === 'string') return kinds.get(kind);
  const operationId = attributes['ai.operationId'];
  if (typeof operationId === 'string') return aiSdkOperations.get(operationId.slice(operationId.lastIndexOf('.') + 1));
  const operation = attributes['gen_ai.operation.name'];
  const observation = attributes['langfuse.observation.type'];
  if (typeof operation !== 'string') return typeof observation === 'string' ? observations.get(observation) : null;
  return notCalls.has(operation) ? undefined : (operations.get(operation) ?? null);
}

/** True if a call is known to be streamed. */
export function isStreamed(attributes: Attributes): boolean {
  const operationId = attributes['ai.operationId'];
  if (typeof operationId === 'string') return operationId.endsWith('.doStream');
  return attributes['gen_ai.request.stream'] === true || attributes['gen_ai.is_streaming'] === true;
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
