import type { BodyKind, Endpoint, WireFormat } from '../contract/plugin/requests/endpoint.ts';
import type { OperationName } from '../contract/provider/provider.ts';
import { modelsEndpoint } from './models-endpoint.ts';

/** One shaped route: method and path below `/v1`, its operation, and the format of its errors. */
export interface Route {
  readonly method: string;
  /** `/responses/{id}`: a segment in braces matches any one segment. The operation receives the segment under this name. */
  readonly path: string;
  readonly operation: OperationName;
  readonly format: WireFormat;
  /** Absent = `json`. */
  readonly body?: BodyKind;
  /** True for files, batches and fine-tuning jobs: see `Endpoint.isStored`. */
  readonly isStored?: true;
  /** True for batches: see `Endpoint.hasModelsInFile`. */
  readonly hasModelsInFile?: true;
  readonly takesSvcOptions?: true;
  readonly isEmulated?: true;
  readonly usesNoTokens?: true;
  /** Absent = `completions.write`. */
  readonly scopes?: readonly string[];
}

const stored = { format: 'chat', isStored: true } as const;
const emulated = { ...stored, isEmulated: true } as const;

/** The routes that one operation of a provider serves. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/chat/completions', operation: 'chatComplete', format: 'chat' },
  { method: 'POST', path: '/completions', operation: 'complete', format: 'chat' },
  { method: 'POST', path: '/embeddings', operation: 'embed', format: 'chat' },

  { method: 'POST', path: '/messages', operation: 'messages', format: 'messages' },
  { method: 'POST', path: '/messages/count_tokens', operation: 'messagesCountTokens', format: 'messages', usesNoTokens: true },

  { method: 'POST', path: '/responses', operation: 'createModelResponse', format: 'responses' },
  { method: 'GET', path: '/responses/{id}', operation: 'getModelResponse', format: 'responses', body: 'none' },
  { method: 'DELETE', path: '/responses/{id}', operation: 'deleteModelResponse', format: 'responses', body: 'none' },
  { method: 'GET', path: '/responses/{id}/input_items', operation: 'listResponseInputItems', format: 'responses', body: 'none' },
  { method: 'POST', path: '/responses/{id}/cancel', operation: 'cancelModelResponse', format: 'responses', body: 'none' },
  {
    method: 'POST',
    path: '/responses/input_tokens',
    operation: 'countResponseInputTokens',
    format: 'responses',
    usesNoTokens: true,
  },
  { method: 'POST', path: '/responses/compact', operation: 'compactModelResponse', format: 'responses' },

  { method: 'POST', path: '/audio/speech', operation: 'createSpeech', format: 'chat' },
  { method: 'POST', path: '/audio/transcriptions', operation: 'createTranscription', format: 'chat', body: 'form' },
  { method: 'POST', path: '/audio/translations', operation: 'createTranslation', format: 'chat', body: 'form' },

  { method: 'POST', path: '/images/generations', operation: 'imageGenerate', format: 'chat' },
  // A form with the images, or JSON that names them by URL or contains them as base64.
  { method: 'POST', path: '/images/edits', operation: 'imageEdit', format: 'chat', body: 'json-or-form' },
  { method: 'POST', path: '/images/variations', operation: 'imageVariation', format: 'chat', body: 'form' },

  { method: 'POST', path: '/moderations', operation: 'moderate', format: 'chat' },
  // Cohere's body: `{model, query, documents, top_n}`.
  { method: 'POST', path: '/rerank', operation: 'rerank', format: 'chat' },
  // Mistral's body: `{model, document: {type, document_url}}`.
  { method: 'POST', path: '/ocr', operation: 'ocr', format: 'chat' },
  // Typed judgments: `{model, state, questions}`, or OpenAI's `{model, input, questions}`.
  { method: 'POST', path: '/decisions', operation: 'createDecision', format: 'chat' },

  // An upload of any size is streamed, and stored in memory only for guardrails that read it.
  { method: 'POST', path: '/files', operation: 'uploadFile', body: 'stream', ...emulated },
  { method: 'GET', path: '/files', operation: 'listFiles', body: 'none', ...emulated },
  { method: 'GET', path: '/files/{id}', operation: 'retrieveFile', body: 'none', ...stored },
  { method: 'GET', path: '/files/{id}/content', operation: 'retrieveFileContent', body: 'none', ...stored },
  { method: 'DELETE', path: '/files/{id}', operation: 'deleteFile', body: 'none', ...stored },

  { method: 'POST', path: '/batches', operation: 'createBatch', hasModelsInFile: true, takesSvcOptions: true, ...emulated },
  { method: 'GET', path: '/batches', operation: 'listBatches', body: 'none', ...emulated },
  { method: 'GET', path: '/batches/{id}', operation: 'retrieveBatch', body: 'none', ...stored },
  { method: 'GET', path: '/batches/{id}/output', operation: 'getBatchOutput', body: 'none', ...stored },
  { method: 'POST', path: '/batches/{id}/cancel', operation: 'cancelBatch', body: 'none', ...stored },

  // Events and checkpoints of fine-tuning jobs pass through as any other path.
  { method: 'POST', path: '/fine_tuning/jobs', operation: 'createFinetune', takesSvcOptions: true, ...stored },
  { method: 'GET', path: '/fine_tuning/jobs', operation: 'listFinetunes', body: 'none', ...stored },
  { method: 'GET', path: '/fine_tuning/jobs/{id}', operation: 'retrieveFinetune', body: 'none', ...stored },
  { method: 'POST', path: '/fine_tuning/jobs/{id}/cancel', operation: 'cancelFinetune', body: 'none', ...stored },
];

/** Routes that are not one operation of a provider, by method and path below `/v1`. */
export const standaloneRoutes: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ['GET /models', modelsEndpoint],
  [
    'GET /realtime',
    {
      name: 'realtime',
      operation: null,
      isRealtime: true,
      scopes: ['completions.write'],
      format: 'plain',
      proxyPath: '/realtime',
    },
  ],
  ['POST /realtime/client_secrets', clientSecretEndpoint('createClientSecret')],
  // Names of the same route before OpenAI's API was generally available.
  ['POST /realtime/sessions', clientSecretEndpoint('createRealtimeSession')],
  ['POST /realtime/transcription_sessions', clientSecretEndpoint('createTranscriptionSession')],
  [
    'POST /configs/explain',
    {
      name: 'explainConfig',
      operation: null,
      routing: 'none',
      body: 'json',
      scopes: ['completions.write', 'configs.read'],
      format: 'plain',
      proxyPath: '',
    },
  ],
  [
    'POST /prompts/{id}/render',
    {
      name: 'renderPrompt',
      operation: null,
      routing: 'none',
      body: 'json',
      scopes: ['prompts.render', 'completions.write'],
      format: 'plain',
      proxyPath: '',
    },
  ],
  [
    'GET /prompts/{id}/variables',
    {
      name: 'listPromptVariables',
      operation: null,
      routing: 'none',
      body: 'none',
      scopes: ['prompts.render', 'prompts.read', 'completions.write'],
      format: 'plain',
      proxyPath: '',
    },
  ],
  [
    'POST /prompts/{id}/completions',
    {
      name: 'completePrompt',
      operation: null,
      isPrompt: true,
      body: 'json',
      scopes: ['completions.write'],
      format: 'chat',
      proxyPath: '',
    },
  ],
  [
    'POST /guardrails/invoke',
    {
      name: 'invokeGuardrails',
      operation: null,
      routing: 'none',
      body: 'json',
      scopes: ['guardrails.invoke'],
      format: 'plain',
      proxyPath: '',
    },
  ],
]);

/** Every route as `GET /files/{id}`. All other paths are the control plane's or pass through. */
export const routeNames: readonly string[] = [
  ...routes.map(({ method, path }) => `${method} ${path}`),
  ...standaloneRoutes.keys(),
];

function clientSecretEndpoint(name: Endpoint['name']): Endpoint {
  const scopes = ['completions.write'];
  const replies = { usesNoTokens: true, repliesWithSecret: true } as const;
  return { name, operation: null, routing: 'none', body: 'json', scopes, format: 'plain', proxyPath: '', ...replies };
}
