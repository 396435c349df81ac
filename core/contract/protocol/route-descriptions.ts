import type { BodyKind, WireFormat } from '../plugin/requests/endpoint.ts';
import type { JsonObject } from '../values/json/json.ts';

/**
 * One route of the data plane for the API description. The table of routes is core/endpoints; a test checks that both have the same
 * routes, names, bodies, formats and scopes.
 */
export interface RouteDescription {
  readonly name: string;
  readonly tag: string;
  readonly summary: string;
  readonly body: BodyKind;
  readonly format: WireFormat;
  /** Absent = `completions.write`. */
  readonly scopes?: readonly string[];
  /** Members that a body must have. */
  readonly required?: readonly string[];
  /** All members that a body may have. Absent = it may have others, which are sent to the provider. */
  readonly only?: readonly string[];
  /** A body that works with a provider which has the model. */
  readonly example?: JsonObject;
  /** Names of query parameters that the gateway itself reads. */
  readonly query?: readonly string[];
  /** Media types of a 200. Absent = JSON. */
  readonly replies?: readonly string[];
  /** Base URLs beside `/v1` and those of Azure's SDKs under which the route exists as well. */
  readonly alsoBelow?: readonly string[];
  /** True for routes that no provider has. They do not exist below `/openai`. */
  readonly isOwn?: boolean;
}

/** Base URLs of Azure's SDKs. The first one may be followed by `/deployments/{deployment}`. */
export const azureBases = ['/openai', '/openai/v1'] as const;

/** Returns the base URLs of a route. */
export function basesOf({ alsoBelow = [], isOwn = false }: RouteDescription): readonly string[] {
  return ['/v1', ...alsoBelow, ...(isOwn ? [] : azureBases)];
}

/** True if the route also exists below `/openai/deployments/{deployment}`. */
export function followsDeployment(key: string, { format, tag, isOwn = false }: RouteDescription): boolean {
  return key.startsWith('POST ') && format === 'chat' && !isOwn && (key === 'POST /batches' || !storedTags.has(tag));
}

const json = 'application/json';
const events = 'text/event-stream';
const streamed = [json, events];
const chat = { body: 'json', format: 'chat', replies: streamed } as const;
const responses = { tag: 'Responses', format: 'responses', body: 'none' } as const;
const files = { tag: 'Files', format: 'chat', body: 'none' } as const;
const batches = { tag: 'Batches', format: 'chat', body: 'none' } as const;
const tuning = { tag: 'Fine-tuning', format: 'chat', body: 'none' } as const;
const clientSecrets = { body: 'json', format: 'plain', tag: 'Realtime' } as const;
/** Tags of routes about stored resources of a provider. */
const storedTags: ReadonlySet<string> = new Set([files.tag, batches.tag, tuning.tag]);
const hello = [{ role: 'user', content: 'Say hello.' }];

/** Routes of the data plane by method and path below `/v1`. */
export const routeDescriptions: Readonly<Record<string, RouteDescription>> = {
  'POST /chat/completions': {
    ...chat,
    name: 'chatComplete',
    tag: 'Chat',
    summary: 'Create a chat completion',
    required: ['messages'],
    example: { model: '@openai-prod/gpt-4o-mini', messages: hello },
  },
  'POST /completions': {
    ...chat,
    name: 'complete',
    tag: 'Chat',
    summary: 'Create a text completion',
    required: ['prompt'],
    example: { model: '@openai-prod/gpt-3.5-turbo-instruct', prompt: 'Say hello.' },
  },
  'POST /embeddings': {
    body: 'json',
    format: 'chat',
    name: 'embed',
    tag: 'Embeddings',
    summary: 'Create embeddings',
    required: ['input'],
    example: { model: '@openai-prod/text-embedding-3-small', input: 'hello' },
  },
  'POST /messages': {
    body: 'json',
    format: 'messages',
    replies: streamed,
    name: 'messages',
    tag: 'Messages',
    summary: 'Create a message in the format of the Anthropic API',
    required: ['messages', 'max_tokens'],
    example: { model: '@anthropic-prod/claude-sonnet-4-5', max_tokens: 100, messages: hello },
  },
  'POST /messages/count_tokens': {
    body: 'json',
    format: 'messages',
    name: 'messagesCountTokens',
    tag: 'Messages',
    summary: 'Count the tokens of a message',
    required: ['messages'],
    example: { model: '@anthropic-prod/claude-sonnet-4-5', messages: hello },
  },
  'POST /responses': {
    ...responses,
    body: 'json',
    replies: streamed,
    name: 'createModelResponse',
    summary: 'Create a response',
    example: { model: '@openai-prod/gpt-4o-mini', input: 'Say hello.' },
  },
  'GET /responses/{id}': { ...responses, replies: streamed, name: 'getModelResponse', summary: 'Read a stored response' },
  'DELETE /responses/{id}': { ...responses, name: 'deleteModelResponse', summary: 'Delete a stored response' },
  'GET /responses/{id}/input_items': {
    ...responses,
    name: 'listResponseInputItems',
    summary: 'List the input items of a stored response',
  },
  'POST /responses/{id}/cancel': { ...responses, name: 'cancelModelResponse', summary: 'Cancel a background response' },
  'POST /responses/input_tokens': {
    ...responses,
    body: 'json',
    name: 'countResponseInputTokens',
    summary: 'Count the input tokens of a response',
    example: { model: '@openai-prod/gpt-4o-mini', input: 'Say hello.' },
  },
  'POST /responses/compact': {
    ...responses,
    body: 'json',
    name: 'compactModelResponse',
    summary: 'Compact the items of a conversation',
    example: { model: '@openai-prod/gpt-4o-mini', input: 'Say hello.' },
  },
  'POST /audio/speech': {
    body: 'json',
    format: 'chat',
    replies: ['audio/*', events],
    name: 'createSpeech',
    tag: 'Audio',
    summary: 'Turn text into speech',
    required: ['input'],
    example: { model: '@openai-prod/tts-1', input: 'Hello.', voice: 'alloy' },
  },
  'POST /audio/transcriptions': {
    body: 'form',
    format: 'chat',
    replies: [json, 'text/plain', events],
    name: 'createTranscription',
    tag: 'Audio',
    summary: 'Turn speech into text',
    required: ['file'],
  },
  'POST /audio/translations': {
    body: 'form',
    format: 'chat',
    replies: [json, 'text/plain', events],
    name: 'createTranslation',
    tag: 'Audio',
    summary: 'Turn speech into English text',
    required: ['file'],
  },
  'POST /images/generations': {
    ...chat,
    name: 'imageGenerate',
    tag: 'Images',
    summary: 'Create images from a prompt',
    required: ['prompt'],
    example: { model: '@openai-prod/gpt-image-1', prompt: 'A lighthouse' },
  },
  'POST /images/edits': {
    ...chat,
    body: 'json-or-form',
    name: 'imageEdit',
    tag: 'Images',
    summary: 'Edit images',
    required: ['prompt'],
  },
  'POST /images/variations': {
    body: 'form',
    format: 'chat',
    name: 'imageVariation',
    tag: 'Images',
    summary: 'Create variations of an image',
    required: ['image'],
  },
  'POST /moderations': {
    body: 'json',
    format: 'chat',
    name: 'moderate',
    tag: 'Moderations',
    summary: 'Classify text or images',
    required: ['input'],
    example: { model: '@openai-prod/omni-moderation-latest', input: 'hello' },
  },
  'POST /rerank': {
    body: 'json',
    format: 'chat',
    name: 'rerank',
    tag: 'Rerank',
    summary: 'Order documents by relevance, in the format of the Cohere API',
    required: ['query', 'documents'],
    example: { model: '@cohere-prod/rerank-v3.5', query: 'hello', documents: ['hello', 'goodbye'] },
    alsoBelow: ['/v2'],
  },
  'POST /ocr': {
    body: 'json',
    format: 'chat',
    name: 'ocr',
    tag: 'OCR',
    summary: 'Read a document, in the format of the Mistral API',
    required: ['document'],
    example: {
      model: '@mistral-prod/mistral-ocr-latest',
      document: { type: 'document_url', document_url: 'https://example.com/a.pdf' },
    },
  },
  'POST /decisions': {
    body: 'json',
    format: 'chat',
    name: 'createDecision',
    tag: 'Decisions',
    summary: 'Create typed judgments',
    required: ['questions'],
  },
  'POST /files': { ...files, body: 'stream', name: 'uploadFile', summary: 'Upload a file', required: ['file', 'purpose'] },
  'GET /files': { ...files, name: 'listFiles', summary: 'List files' },
  'GET /files/{id}': { ...files, name: 'retrieveFile', summary: 'Read the properties of a file' },
  'GET /files/{id}/content': { ...files, replies: ['*/*'], name: 'retrieveFileContent', summary: 'Read the bytes of a file' },
  'DELETE /files/{id}': { ...files, name: 'deleteFile', summary: 'Delete a file' },
  'POST /batches': {
    ...batches,
    body: 'json',
    name: 'createBatch',
    summary: 'Create a batch of requests',
    required: ['input_file_id', 'endpoint', 'completion_window'],
    example: { input_file_id: 'file-abc', endpoint: '/v1/chat/completions', completion_window: '24h' },
  },
  'GET /batches': { ...batches, name: 'listBatches', summary: 'List batches' },
  'GET /batches/{id}': { ...batches, name: 'retrieveBatch', summary: 'Read a batch' },
  'GET /batches/{id}/output': { ...batches, replies: ['*/*'], name: 'getBatchOutput', summary: 'Read the results of a batch' },
  'POST /batches/{id}/cancel': { ...batches, name: 'cancelBatch', summary: 'Cancel a batch' },
  'POST /fine_tuning/jobs': {
    ...tuning,
    body: 'json',
    name: 'createFinetune',
    summary: 'Create a fine-tuning job',
    required: ['training_file'],
    example: { model: 'gpt-4o-mini-2024-07-18', training_file: 'file-abc' },
  },
  'GET /fine_tuning/jobs': { ...tuning, name: 'listFinetunes', summary: 'List fine-tuning jobs' },
  'GET /fine_tuning/jobs/{id}': { ...tuning, name: 'retrieveFinetune', summary: 'Read a fine-tuning job' },
  'POST /fine_tuning/jobs/{id}/cancel': { ...tuning, name: 'cancelFinetune', summary: 'Cancel a fine-tuning job' },
  'GET /models': {
    body: 'none',
    format: 'plain',
    name: 'listModels',
    tag: 'Models',
    summary: 'List the models of the workspace, or of the provider that the request names',
    scopes: ['completions.write', 'models.list', 'virtual_keys.list'],
    query: ['ai_service', 'provider', 'limit', 'offset', 'sort', 'order', 'after_id', 'before_id'],
  },
  'GET /realtime': {
    body: 'none',
    format: 'plain',
    name: 'realtime',
    tag: 'Realtime',
    summary: 'Open a WebSocket session with a realtime model',
    query: ['model'],
    replies: [],
  },
  'POST /realtime/client_secrets': {
    ...clientSecrets,
    name: 'createClientSecret',
    summary: 'Create a client secret, with which a browser opens WebSocket sessions at `/v1/realtime`',
    only: ['expires_after', 'session'],
    required: ['session'],
    example: {
      expires_after: { anchor: 'created_at', seconds: 600 },
      session: { type: 'realtime', model: '@openai-prod/gpt-realtime' },
    },
  },
  'POST /realtime/sessions': {
    ...clientSecrets,
    name: 'createRealtimeSession',
    summary: 'Create a client secret; older name of `/realtime/client_secrets`, which takes the session itself',
    required: ['model'],
    example: { model: '@openai-prod/gpt-realtime', instructions: 'Say hello.' },
  },
  'POST /realtime/transcription_sessions': {
    ...clientSecrets,
    name: 'createTranscriptionSession',
    summary:
      'Create a client secret for transcriptions; older name of `/realtime/client_secrets`, which takes the session itself',
    example: { input_audio_transcription: { model: 'gpt-4o-transcribe' } },
  },
  'POST /configs/explain': {
    isOwn: true,
    body: 'json',
    format: 'plain',
    name: 'explainConfig',
    tag: 'Routing',
    summary: 'Explain which targets a request would go to, without sending it',
    scopes: ['completions.write', 'configs.read'],
    only: ['config', 'request'],
    example: { config: 'pc-with-fallback', request: { body: { model: 'gpt-4o-mini', messages: hello } } },
  },
  'POST /prompts/{id}/render': {
    isOwn: true,
    body: 'json',
    format: 'plain',
    name: 'renderPrompt',
    tag: 'Prompts',
    summary: 'Render a prompt without calling a model',
    scopes: ['prompts.render', 'completions.write'],
    example: { variables: { name: 'Ann' } },
  },
  'GET /prompts/{id}/variables': {
    isOwn: true,
    body: 'none',
    format: 'plain',
    name: 'listPromptVariables',
    tag: 'Prompts',
    summary: 'List the variables of a prompt and its partials',
    scopes: ['prompts.render', 'prompts.read', 'completions.write'],
  },
  'POST /prompts/{id}/completions': {
    isOwn: true,
    body: 'json',
    format: 'chat',
    name: 'completePrompt',
    tag: 'Prompts',
    summary: 'Render a prompt and send it to its model',
    example: { variables: { name: 'Ann' } },
  },
  'POST /guardrails/invoke': {
    isOwn: true,
    body: 'json',
    format: 'plain',
    name: 'invokeGuardrails',
    tag: 'Guardrails',
    summary: 'Run saved guardrails on a text, without calling a model',
    scopes: ['guardrails.invoke'],
    required: ['guardrails', 'text'],
    only: ['guardrails', 'side', 'text', 'model'],
    example: { guardrails: ['pg-no-secrets'], side: 'input', text: 'Say hello.' },
  },
};

/** Request headers of the data plane by name without prefix. */
export const requestHeaderTexts = {
  config: 'Slug of a saved config, or a config as JSON',
  provider: 'Slug of a provider with `@`, or a provider type',
  'virtual-key': 'Slug of a provider, as older clients send it',
  'custom-host': 'Base URL of the provider, if the caller may set it',
  'trace-id': 'Groups the records of related requests',
  metadata: 'JSON object of texts, stored with the record and read by conditional routing',
  cache: '`simple` or `true`: turn on the cache if the config has no cache setting',
  'cache-namespace': 'Separates cache entries',
  'cache-force-refresh': '`true`: replace the cache entry',
  'request-timeout': 'Milliseconds until an attempt ends with 408',
  'forward-headers': 'Comma-separated names of request headers to send to the provider',
  'strict-open-ai-compliance': '`false`: keep members that the OpenAI format does not have',
  debug: '`false`: neither read nor fill the cache',
  'strict-variables': '`true`: reject a prompt whose variables are not all given',
  'debug-route': '`true`: explain the route in a header of the reply',
} as const satisfies Readonly<Record<string, string>>;

/** Reply headers of the data plane by name without prefix. */
export const replyHeaderTexts: Readonly<Record<string, string>> = {
  'trace-id': 'Trace id of the request',
  'last-used-option-index': 'Target that replied, such as `config.targets[1]`',
  'retry-attempt-count': 'Retries at that target',
  provider: 'Provider type that replied',
  'cache-status': 'Outcome of the cache',
  'dropped-params': 'Parameters that the provider does not have',
  adapted: 'Parameters that were changed for the provider',
};
