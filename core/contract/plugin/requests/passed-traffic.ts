import type { JsonObject } from '../../values/json/json.ts';
/**
 * The kind of traffic of a pass-through request, by its method and path alone:
 * - `free`: it runs no model. It is not reserved, counted or estimated.
 * - `stated`: it runs a model, and replies to it state what was used in a known format.
 * - `unknown`: it may run a model. Usage that its reply states is counted; any other usage is estimated.
 * - `deferred`: it starts work whose usage no reply to it can state (batches, long-running predictions, videos, asynchronous completions, agents
 *   that the provider runs, calls and providers' client secrets of realtime and chat sessions, with which a client reaches the provider directly).
 */
export type PassedTraffic = 'free' | 'stated' | 'unknown' | 'deferred';

/**
 * Classifies a pass-through request. `path` is the path below the provider's base URL. Reading and deleting is free, and so is every
 * call that only manages stored resources or counts tokens. WebSocket sessions are never free: ask `sessionTraffic`.
 */
export function passedTraffic(method: string, path: string): PassedTraffic {
  if (method === 'GET' || method === 'DELETE' || method === 'HEAD') return 'free';
  const plain = withoutEmptySegments(path);
  if (countsTokens.test(plain) || endsCall.test(plain)) return 'free';
  // The cancelled batch was counted or rejected when it was created.
  if (deferred.test(plain)) return /\/cancel$/.test(plain) ? 'free' : 'deferred';
  if (runsAgent.test(plain)) return 'deferred';
  if (statedVerb.test(plain) || continues.test(plain)) return 'stated';
  if (managed.test(plain)) return runsModel.test(plain) ? 'unknown' : 'free';
  return stated.test(plain) ? 'stated' : 'unknown';
}

/** Many servers merge slashes, and ignore one at the end. */
function withoutEmptySegments(path: string): string {
  const merged = path.includes('//') ? path.replace(/\/{2,}/g, '/') : path;
  return merged.length > 1 && merged.endsWith('/') ? merged.slice(0, -1) : merged;
}

/**
 * Returns true for free calls that manage files, jobs, models and settings. All other free calls store texts for a model, such as messages of a
 * thread, or return texts that a model wrote.
 */
export function managesOnly(path: string): boolean {
  return managedWithoutTexts.test(path) && !countsTokens.test(path) && !mayRunModel.test(path) && !takesGraders.test(path);
}

/**
 * Returns true for calls among `managesOnly` whose JSON may hold texts for a model: descriptions of skills and vector stores, attributes of files,
 * examples for a tuned model. A model reads neither names of accounts nor addresses of webhooks and phone calls.
 */
export function describesResources(path: string): boolean {
  return managesOnly(path) && !administered.test(path);
}

/** Fine-tuning jobs may have prompts of graders, which are models. */
const takesGraders = /\/fine_tuning\/+jobs\/*$/;

/** Names of operations that servers with paths of their own have below a stored resource, such as `/datasets/{id}/query`. */
const mayRunModel =
  /[/:](?:runs?|chat|completions?|messages|responses|generate\w*|predict\w*|infer\w*|invoke|execute|exec|query|search|ask|answer\w*|embed\w*)\/*$/i;

/** Classifies a WebSocket session by its path below `/v1`: OpenAI's realtime and Responses events and Gemini's live events state usage. */
export function sessionTraffic(path: string): PassedTraffic {
  return path === '' || /(?:^|\/)(?:realtime|responses)\/?$/.test(path) || /BidiGenerateContent/.test(path)
    ? 'stated'
    : 'unknown';
}

/** True for sessions of the Responses API and of the live APIs of OpenAI and Gemini: messages name the model, and providers ignore one in the address. */
export function namesModelInMessages(path: string): boolean {
  return /(?:^|\/)(?:responses|live\/sessions(?:\/[^/]+\/(?:attach|fork))?)\/?$|BidiGenerateContent/i.test(path);
}

/** Versions and prefixes that providers put before the name of a resource. */
const prefix = '(?:/(?:v\\d\\w*|openai|upload|api|projects/[^/]+|locations/[^/]+|publishers/[^/]+|serving-endpoints))*';

const countsTokens = /(?:\/count_tokens|\/input_tokens|\/count-tokens|\/tokenize|\/detokenize|:countTokens|:computeTokens)$/;

/** True for paths whose requests start realtime sessions beside the gateway: calls, client secrets and tokens. */
export function startsSession(path: string): boolean {
  return /\/(?:realtime|realtimeapi|live\/sessions|auth_tokens)(?:\/|$)/i.test(path);
}

/** True for deferred calls after which a model runs beside the gateway, or writes texts that are read as files. */
export function runsElsewhere({ traffic, proxyPath }: { traffic?: PassedTraffic; proxyPath: string }): boolean {
  if (traffic !== 'deferred' || proxyPath.endsWith('EmbedContent')) return false;
  return startsSession(proxyPath) || /batch|async-invoke|model-invocation-job|chatkit\/sessions/i.test(proxyPath);
}

/** Ends or transfers a call or a live session that exists. */
const endsCall = /\/(?:realtime\/calls|live\/sessions)\/[^/]+\/(?:hangup|reject|refer)$/;

/** In any case, because Azure ignores it in paths. */
const deferred = new RegExp(
  `^${prefix}/(?:realtime(?:api)?/.+|live/sessions(?:/|$)|auth_tokens$|(?:batches|messages/batches|batch/jobs|batchPredictionJobs|model-invocation-jobs?|async-invoke|videos|video/generations/jobs|chatkit/sessions|async/chat/completions)(?:/|$)|.*:(?:batchGenerateContent|asyncBatchEmbedContent|predictLongRunning)$)`,
  'i',
);

/**
 * Starts, continues or schedules an agent that its provider runs: sessions, automations, deployments, dreams and triggers of the agents of OpenAI,
 * Anthropic and Gemini. Replies state what was started, and it works on.
 */
const runsAgent = new RegExp(
  `^${prefix}/(?:(?:agents/)?sessions(?:/[^/]+/events)?|agents/automations(?:/[^/]+(?:/(?:invocations|resume))?)?|deployments(?:/[^/]+(?:/(?:run|unpause))?)?|triggers(?:/[^/]+(?:/executions)?)?|dreams)$`,
  'i',
);

/** Verbs of Google's APIs, which can follow any resource. */
const statedVerb = /:(?:generateContent|streamGenerateContent|embedContent|rawPredict|streamRawPredict)$/;

/** Stored resources: making, changing and listing them runs no model. */
const managed = new RegExp(
  `^${prefix}/(?:files|uploads|vector_stores|containers|conversations|assistants|threads|datasets|cachedContents|fileSearchStores|corpora|fine_tuning|fine-tuning|fine_tunes|fine-tunes|finetuning|tunedModels|tuningJobs|evals|webhooks|skills|organization)(?:/|:|$)`,
);
const managedWithoutTexts = new RegExp(
  `^${prefix}/(?:files|uploads|models|vector_stores(?!/[^/]+/search$)|containers|datasets|fileSearchStores|fine_tuning|fine-tuning|fine_tunes|fine-tunes|finetuning|tunedModels|tuningJobs|webhooks|skills|organization|batches|messages/batches|batch/jobs|batchPredictionJobs|realtime/calls)(?:/|:|$)`,
);
/** Accounts, addresses for events, and the end of batches and calls. */
const administered = new RegExp(
  `^${prefix}/(?:webhooks|organization|batches|messages/batches|batch/jobs|batchPredictionJobs|realtime/calls)(?:/|:|$)`,
);
/** Runs of threads and evaluations, and graders of fine-tuning, which may be models. */
const runsModel = /\/runs(?:\/[^/]+\/submit_tool_outputs)?$|\/graders\/run$/;

/**
 * Mistral's conversations run a model when they begin, continue or restart, and their replies state usage. OpenAI's have the same paths,
 * run none, and their replies state none.
 */
const continues = new RegExp(`^${prefix}/conversations(?:/[^/]+(?:/restart)?)?$`);

const stated = new RegExp(
  '/(?:chat/completions|completions|embeddings|responses|messages|rerank|embed|chat|ocr|audio/(?:speech|transcriptions|translations)|' +
    'images/(?:generations|edits|variations)|moderations|converse|converse-stream|invoke|invoke-with-response-stream)$',
);

/** False for moderations, which their makers do not bill, and for conversations that run no model: a reply without counts has used nothing. */
export function isEstimable(path: string): boolean {
  return !/\/moderations\/?$/.test(path) && !continues.test(path);
}

/** False for requests whose replies have no text tokens. Nothing is reserved for these replies. */
export function repliesWithTokens(path: string): boolean {
  return !withoutTokens.test(path);
}

const withoutTokens =
  /(?:\/embeddings|\/embed|\/rerank|\/moderations|\/ocr|\/audio\/[a-z]+|\/images\/[a-z]+|:embedContent|:batchEmbedContents|:predict)\/?$/;

/** True for requests that ask for images. */
export function makesImages(path: string): boolean {
  return /(?:\/images\/[a-z]+|:predict)\/?$/.test(path);
}

/** True for speech requests, which are billed by characters. */
export function makesSpeech(path: string): boolean {
  return /\/audio\/speech\/?$/.test(path);
}

/** The facts about the price of a pass-through request, read from its bytes without parsing them whole. */
export interface PassedRequest {
  /** The members that decide about the price, as the request has them: `model`, `max_tokens`, `n`, `quality`, … */
  readonly params: JsonObject;
  /** Estimate of its input tokens. */
  readonly inputTokens: number;
  /** Returns the model that a reply states if the request lets its provider choose one and it is not that of the request. Null otherwise. */
  servedModel(stated: string): string | null;
}
