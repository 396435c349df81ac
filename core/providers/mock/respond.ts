import { randomUUID } from 'node:crypto';
import { isCredentialHeader } from '../../contract/values/http/credential-headers.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { replyTo } from './chat-reply.ts';
import { dimensionsOf, embeddingReply, inputsOf } from './embedding.ts';
import { type MockMedia, mediaReply, modelsReply, silence, transcript } from './media.ts';
import { type MockBehaviour, parseModelName } from './model-name.ts';
import { plainReply, streamedReply } from './reply-format.ts';

/** One reply, with the times of its parts. */
export interface MockReply {
  readonly status: number;
  readonly headers: HeaderList;
  /** Wait before the head. */
  readonly delayMs: number;
  readonly chunks: readonly (string | Uint8Array)[];
  /** Wait between two chunks. */
  readonly cadenceMs: number;
  /** Event after the chunks: the orderly end, a broken connection, or silence. */
  readonly ending: 'end' | 'cut' | 'silence';
  /** False: `cut` or `silence` comes before the head. */
  readonly head: boolean;
}

export type MockOperation = 'chat' | 'text' | 'embeddings' | 'audio' | MockMedia;

/** Returns the operation of a request path, or null. `passThroughReply` handles all other paths. */
export function mockOperation(method: string, path: string): MockOperation | null {
  if (method !== 'POST') return null;
  const bare = path.split('?', 1)[0];
  if (bare === '/v1/chat/completions') return 'chat';
  if (bare === '/v1/completions') return 'text';
  if (bare === '/v1/embeddings') return 'embeddings';
  return mediaPaths[bare ?? ''] ?? null;
}

const mediaPaths: Readonly<Record<string, MockMedia | 'audio'>> = {
  '/v1/audio/speech': 'speech',
  '/v1/audio/transcriptions': 'audio',
  '/v1/audio/translations': 'audio',
  '/v1/images/generations': 'images',
  '/v1/moderations': 'moderations',
  '/v1/rerank': 'rerank',
};

/** Returns the reply that needs no body: the list of models. Null for every other path. */
export function respondUnread(method: string, path: string): MockReply | null {
  if (method !== 'GET' || path.split('?', 1)[0] !== '/v1/models') return null;
  return orderly(200, jsonHeaders, JSON.stringify(modelsReply()));
}

/** Returns the reply to a form with audio. */
export async function respondToForm(bytes: Uint8Array, contentType: string): Promise<MockReply> {
  const form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData().catch(() => null);
  if (form === null) return refusal(400, 'the body is not a multipart form', null);
  const asked = behaviourOf(form.get('model'));
  if ('refused' in asked) return asked.refused;
  const file = form.get('file');
  if (!(file instanceof File)) return lacks('file');
  return timed(asked.behaviour, [JSON.stringify(transcript(file.size, form.get('response_format')))], false);
}

/** Returns the reply to a JSON body of one of the operations. */
export function respond(operation: Exclude<MockOperation, 'audio'>, bytes: Uint8Array, nowMs: number): MockReply {
  const body = parseObject(bytes);
  if (body === null) return refusal(400, 'the body is not a JSON object', null);
  const asked = behaviourOf(body.model);
  if ('refused' in asked) return asked.refused;
  const { behaviour } = asked;
  const missing = missingParam(operation, body);
  if (missing !== null) return lacks(missing);
  const excess = excessOf(operation, body);
  if (excess !== null) return refusal(400, excess, 'input');
  if (operation === 'embeddings') {
    return timed(behaviour, [JSON.stringify(embeddingReply(body, String(body.model), behaviour.usage))], false);
  }
  if (operation === 'speech') {
    const { status, delayMs } = behaviour;
    return { ...orderly(status, ['content-type', 'audio/wav'], silence()), delayMs };
  }
  if (operation !== 'chat' && operation !== 'text') {
    return timed(behaviour, [JSON.stringify(mediaReply(operation, body, nowMs))], false);
  }
  const reply = replyTo(body, behaviour);
  const id = `${operation === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomUUID()}`;
  const frame = { kind: operation, id, model: String(body.model), createdSeconds: Math.floor(nowMs / 1000) };
  if (body.stream === true) return timed(behaviour, streamedReply(frame, reply, behaviour.chunks, body), true);
  return timed(behaviour, [JSON.stringify(plainReply(frame, reply))], false);
}

/**
 * Returns a description of the request on any other path, with which tests can check that method, path, headers and body arrived
 * unchanged.
 */
export function passThroughReply(
  method: string,
  path: string,
  headers: HeaderList,
  body: { readonly bytes: number; readonly sha256: string },
): MockReply {
  const seen: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    if (!isCredentialHeader(name)) seen[name] = headers[i + 1] as string;
  }
  return orderly(200, jsonHeaders, JSON.stringify({ object: 'mock.request', method, path, headers: seen, body }));
}

const jsonHeaders: HeaderList = ['content-type', 'application/json'];
const streamHeaders: HeaderList = ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-cache'];

/** Applies delay, cadence, cut and stall. A plain reply is cut within its bytes, a stream between its events. */
function timed(behaviour: MockBehaviour, whole: readonly string[], streamed: boolean): MockReply {
  const { cutAfter, stallAfter, delayMs, cadenceMs, status } = behaviour;
  const sent = Math.min(cutAfter ?? Number.POSITIVE_INFINITY, stallAfter ?? Number.POSITIVE_INFINITY);
  const fits = streamed ? sent >= whole.length : sent >= (whole[0] as string).length;
  const chunks = fits ? whole : streamed ? whole.slice(0, sent) : [(whole[0] as string).slice(0, sent)];
  const ending = fits ? 'end' : sent === cutAfter ? 'cut' : 'silence';
  return { status, headers: streamed ? streamHeaders : jsonHeaders, delayMs, cadenceMs, chunks, ending, head: sent > 0 };
}

/** Returns the behaviour in a model name, or the error for an invalid one. */
function behaviourOf(model: unknown): { readonly behaviour: MockBehaviour } | { readonly refused: MockReply } {
  if (typeof model !== 'string') return { refused: refusal(400, 'model is required, for example "echo"', 'model') };
  const behaviour = parseModelName(model);
  if ('issue' in behaviour) return { refused: refusal(behaviour.unknownModel ? 404 : 400, behaviour.issue, 'model') };
  return behaviour.status >= 300 ? { refused: injected(behaviour) } : { behaviour };
}

function lacks(param: string): MockReply {
  return refusal(400, `Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
}

/** Returns a parameter that OpenAI requires of this operation and the body lacks. Null if there is none. */
function missingParam(operation: MockOperation, body: JsonObject): string | null {
  const required = requiredParams[operation];
  return required !== undefined && (body[required] === undefined || body[required] === null) ? required : null;
}

/** Maximum number of inputs, as OpenAI has it. The reply is much longer than short ones: 100,000 letters would have vectors of 8 GB. */
const inputsMax = 2_048;
const numbersMax = 1_000_000;

/** Returns why the inputs are too many; null if they are not. */
function excessOf(operation: MockOperation, body: JsonObject): string | null {
  if (!Array.isArray(body.input) || (operation !== 'embeddings' && operation !== 'moderations')) return null;
  const inputs = operation === 'embeddings' ? inputsOf(body.input).length : body.input.length;
  if (inputs > inputsMax) return `input: at most ${inputsMax} inputs are expected`;
  if (operation !== 'embeddings' || inputs * dimensionsOf(body) <= numbersMax) return null;
  return `input: vectors of at most ${numbersMax} numbers in all are expected`;
}

const requiredParams: Readonly<Partial<Record<MockOperation, string>>> = {
  chat: 'messages',
  text: 'prompt',
  embeddings: 'input',
  speech: 'input',
  images: 'prompt',
  moderations: 'input',
  rerank: 'documents',
};

function injected(behaviour: MockBehaviour): MockReply {
  const { status, retryAfterSeconds, delayMs } = behaviour;
  const extra = retryAfterSeconds === null ? [] : ['retry-after', String(retryAfterSeconds)];
  const body = errorBody(status, `status ${status}, as the model name asks`, 'model');
  return { ...orderly(status, [...jsonHeaders, ...extra], JSON.stringify(body)), delayMs };
}

function refusal(status: number, message: string, param: string | null, code?: string): MockReply {
  return orderly(status, jsonHeaders, JSON.stringify(errorBody(status, message, param, code)));
}

function orderly(status: number, headers: HeaderList, content: string | Uint8Array): MockReply {
  return { status, headers, delayMs: 0, cadenceMs: 0, chunks: [content], ending: 'end', head: true };
}

function errorBody(status: number, message: string, param: string | null, code?: string): JsonObject {
  const type = errorTypes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param, code: code ?? (status === 404 ? 'model_not_found' : null) } };
}

const errorTypes: Record<number, string> = { 401: 'authentication_error', 403: 'permission_error', 429: 'rate_limit_error' };
