import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { describesResources, managesOnly } from '../../core/contract/plugin/requests/passed-traffic.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { addressTexts, notInBody } from './address-texts.ts';
import { fileTexts } from './encoded-texts.ts';
import { everyText, isWord, notText, type Path, plainText, type TextPart } from './every-text.ts';

/**
 * The texts that a check reads. `last_message`: of a request the last message, of a response the text that the model wrote.
 * `user_messages`: all messages of the user. `all_messages`: every text, also of the system, of tool calls and their results, and reasoning.
 */
export const scopes = ['last_message', 'user_messages', 'all_messages'] as const;
export type Scope = (typeof scopes)[number];

type Keys = readonly string[] | null;
const noText = { input: null, output: null } as const;

/**
 * Keys that hold text in requests and in replies, by operation; null: no text that checks read. Each operation is listed, so that the compiler asks
 * for those of a new one: without keys, guardrails skip its bodies.
 */
const textKeys: Readonly<Record<OperationName, { readonly input: Keys; readonly output: Keys }>> = {
  chatComplete: { input: ['messages'], output: ['choices'] },
  complete: { input: ['prompt'], output: ['choices'] },
  embed: { input: ['input'], output: null },
  messages: { input: ['messages'], output: ['content'] },
  messagesCountTokens: { input: ['messages'], output: null },
  createModelResponse: { input: ['input'], output: ['output'] },
  getModelResponse: { input: null, output: ['output'] },
  deleteModelResponse: noText,
  // The items include texts of earlier responses.
  listResponseInputItems: { input: null, output: ['data'] },
  // Text of a background response until then.
  cancelModelResponse: { input: null, output: ['output'] },
  countResponseInputTokens: { input: ['input'], output: null },
  compactModelResponse: { input: ['input'], output: ['output'] },
  createSpeech: { input: ['input'], output: null },
  createTranscription: { input: ['prompt'], output: ['text'] },
  createTranslation: { input: ['prompt'], output: ['text'] },
  // A model has rewritten the prompt in `data`. `text`: the texts of a stream.
  imageGenerate: { input: ['prompt'], output: ['data', 'text'] },
  imageEdit: { input: ['prompt'], output: ['data', 'text'] },
  imageVariation: { input: ['prompt'], output: null },
  moderate: { input: ['input'], output: null },
  rerank: { input: ['query', 'documents'], output: null },
  ocr: { input: ['document_annotation_prompt', 'document'], output: ['pages', 'document_annotation'] },
  // OpenAI names the text of a decision `input`, others `state`.
  createDecision: { input: ['state', 'input'], output: null },
  // The names and texts that `uploadBody` reads. Lines of batches are checked one by one.
  uploadFile: { input: ['files'], output: null },
  listFiles: noText,
  retrieveFile: noText,
  retrieveFileContent: noText,
  deleteFile: noText,
  createBatch: noText,
  listBatches: noText,
  retrieveBatch: noText,
  getBatchOutput: noText,
  cancelBatch: noText,
  // The prompts of its graders, which are models. The texts of its files are read at their upload.
  createFinetune: { input: ['method'], output: null },
  listFinetunes: noText,
  retrieveFinetune: noText,
  cancelFinetune: noText,
};
/** Operations whose replies have another form than messages. Every text of their keys is read in every scope. */
const otherReplies: ReadonlySet<OperationName> = new Set([
  ...(['ocr', 'imageGenerate', 'imageEdit', 'createTranscription', 'createTranslation'] as const),
]);
/** True for operations whose replies are messages of a model, in one of the formats of the clients. */
export function repliesWithMessages(operation: OperationName | null): boolean {
  const [key = ''] = (operation !== null && textKeys[operation].output) || [];
  return ['choices', 'content', 'output'].includes(key);
}
/** Keys of requests whose values are any JSON: names and numbers in it are read too. */
const dataKeys: ReadonlySet<string> = new Set(['state', 'documents']);
/** Keys that `all_messages` reads first in requests. All other members follow, except settings. */
const systemKeys = [
  ...['system', 'instructions', 'questions', 'suffix', 'documents', 'systemInstruction', 'system_instruction'],
  // Its variables are texts of a prompt that OpenAI stores.
  'prompt',
  // Descriptions of tools and of the form of the reply are parts of the prompt.
  ...['tools', 'functions', 'response_format', 'text', 'prediction'],
];
/**
 * Keys that hold the content in formats of providers. Unknown fields of a request are sent to its provider, where these replace the content
 * of the client's format or are added to it, so every text in them is read in every scope.
 */
const foreignKeys: ReadonlySet<string> = new Set([
  ...[
    'messages',
    'prompt',
    'input',
    'inputs',
    'contents',
    'content',
    'texts',
    'text',
    'text_input',
    'text_prompts',
    'text_image',
  ],
  ...[
    'inputText',
    'instances',
    'requests',
    'records',
    'query',
    'queries',
    'sources',
    'singleEmbeddingParams',
    'segmentedEmbeddingParams',
  ],
  ...[
    'chat_template',
    'chat_template_kwargs',
    'system_prompt',
    'preamble',
    'chat_history',
    'message',
    'negative_prompt',
    'instruction',
    'title',
  ],
  ...['textToImageParams', 'inPaintingParams', 'outPaintingParams', 'imageVariationParams', 'colorGuidedGenerationParams'],
]);
/** Fields of the client's format that have the name of a foreign key and hold settings. */
const settingKeys: Partial<Record<OperationName, readonly string[]>> = {
  createModelResponse: ['prompt', 'text'],
  countResponseInputTokens: ['prompt', 'text'],
  compactModelResponse: ['prompt', 'text'],
};

/** Members of requests and replies whose text is one of a few words, or made by the provider. */
const settings: ReadonlySet<string> = new Set([
  ...notText,
  ...['tool_choice', 'function_call', 'reasoning_effort', 'verbosity', 'service_tier', 'truncation', 'encoding_format', 'format'],
  ...['size', 'quality', 'style', 'background', 'moderation', 'output_format', 'voice', 'language', 'aspect_ratio'],
  ...['response_format', 'previous_response_id', 'conversation', 'prompt_cache_retention', 'inference_geo', 'speed'],
  ...['system_fingerprint', 'provider', 'stop_reason', 'request_id'],
]);

/** True for the value of a setting. A text of several words is none. */
export function isSetting(name: unknown, text: string): boolean {
  return settings.has(name as string) && isWord(text);
}

/** Members of a reply of Responses that repeat the request. */
const ofRequest: ReadonlySet<string> = new Set([
  ...['instructions', 'prompt', 'tools', 'text', 'reasoning', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key'],
]);

const namesOfTexts: ReadonlySet<string> = new Set([
  ...Object.values(textKeys).flatMap(({ input }) => input ?? []),
  ...systemKeys,
  ...foreignKeys,
]);

/** Returns the members of a request that checks read in some scope, or cannot read; null if there are none. */
export function textMembers(params: Readonly<JsonObject> | null): JsonObject | null {
  const members = Object.entries(params ?? {}).filter(
    ([name, value]) => namesOfTexts.has(name) || tokenKeys.includes(name) || holdsText(name, value),
  );
  return members.length === 0 ? null : Object.fromEntries(members);
}

function holdsText(name: string, value: unknown): boolean {
  if (typeof value === 'string') return !isSetting(name, value);
  const parts: TextPart[] = [];
  try {
    everyText(value, [name], parts);
  } catch {
    // It is nested too deeply.
    return true;
  }
  return parts.length > 0;
}

/** Returns true if requests or responses of this endpoint have text for checks. */
export function hasText(ctx: RequestContext, side: 'input' | 'output'): boolean {
  const operation = ctx.endpoint?.operation ?? null;
  if (ctx.request.webSocketProtocols) return true;
  if (operation === null && side === 'input') return isPassed(ctx) ? !readsOnly(ctx) : describes(ctx);
  if (operation === null) return isPassed(ctx);
  return textKeys[operation][side] !== null;
}

/** True for a request that runs no model and sends no text, such as a list of stored messages. */
function readsOnly(ctx: RequestContext): boolean {
  return ctx.endpoint?.traffic === 'free' && ctx.request.body.length === 0 && addressTexts(ctx).length === 0;
}

/** Returns true for a pass-through request with JSON about stored resources. Files in its place are uploads. */
export function describes({ endpoint, request }: RequestContext): boolean {
  if (endpoint?.name !== 'proxy' || endpoint.traffic !== 'free' || request.webSocketProtocols) return false;
  return request.body.length > 0 && describesResources(endpoint.proxyPath);
}

/** Returns true for pass-through requests that may run a model, store texts for one, or read texts of one. */
export function isPassed({ endpoint, request }: RequestContext): boolean {
  if (endpoint?.name !== 'proxy' || request.webSocketProtocols) return false;
  return endpoint.traffic !== undefined && (endpoint.traffic !== 'free' || !managesOnly(endpoint.proxyPath));
}

/**
 * Returns the texts of a body that a check reads, in their order. Empty texts are left out. Of pass-through bodies every text is read,
 * because their formats are not known.
 */
export function textParts(operation: OperationName | null, side: 'input' | 'output', body: JsonObject, scope: Scope): TextPart[] {
  const parts: TextPart[] = [];
  if (operation === null) {
    everyText(body, [], parts);
    return parts.filter(({ text }) => text !== '');
  }
  const keys = textKeys[operation][side];
  if (keys === null) return [];
  if (scope === 'all_messages') {
    const isReply = side === 'output';
    for (const key of new Set([...(isReply ? [] : systemKeys), ...keys, ...Object.keys(body)])) {
      if (typeof body[key] === 'string' && isSetting(key, body[key]) && !keys.includes(key)) continue;
      if (isReply && (key === 'usage' || (keys.includes('output') && ofRequest.has(key)))) continue;
      if (dataKeys.has(key)) dataTexts(body[key], [key], parts);
      else everyText(body[key], [key], parts);
    }
  } else if (side === 'output' && otherReplies.has(operation)) for (const key of keys) everyText(body[key], [key], parts);
  else if (side === 'input') for (const key of keys) inputTexts(body[key], [key], scope, parts);
  else for (const key of keys) outputTexts(body[key], [key], parts);
  if (side === 'input' && scope !== 'all_messages') foreignTexts(operation, body, keys, parts);
  return parts.filter(({ text }) => text !== '');
}

/** Returns true for a prompt or an input of token ids or embeddings, which checks cannot read. */
export function hasTokenIds(operation: OperationName | null, body: JsonObject): boolean {
  if (tokenKeys.some((key) => body[key] !== undefined && body[key] !== null)) return true;
  const { prompt, input } = body;
  if (operation !== 'complete' && operation !== 'embed' && operation !== null) return false;
  return [prompt, input].some((value) => Array.isArray(value) && value.flat().some((item) => typeof item === 'number'));
}

/** Fields in which vLLM and SGLang take tokens and embeddings in place of a text. */
const tokenKeys = ['prompt_token_ids', 'input_ids', 'prompt_embeds', 'input_embeds'];

/**
 * Returns a copy of the body with each part replaced by the text of the same index. A changed number becomes a text. Throws Error for a changed text
 * of the address or of a file.
 */
export function withTexts(body: JsonObject, parts: readonly TextPart[], texts: readonly string[]): JsonObject {
  const changes = parts.flatMap(({ text, path, kind, encoded }, index) => {
    const next = texts[index];
    return next === undefined || next === text ? [] : [{ path, kind, next: encoded?.(next) ?? next }];
  });
  if (changes.some(({ path }) => path[0] === notInBody)) throw new Error('A text in the address or in a file cannot be changed');
  const copies = new Set<unknown>();
  let changed: unknown = body;
  for (const { path, kind, next } of changes) if (kind !== 'name') changed = changeAt(changed, path, () => next, copies);
  // Names change last, the deepest first: a name is part of the paths below it.
  for (const { path, names } of renamed(changes).sort((one, other) => other.path.length - one.path.length)) {
    const rename = ([name, one]: [string, unknown]): [string, unknown] => [names.get(name) ?? name, one];
    const renameAll = (holder: unknown) => Object.fromEntries(Object.entries(holder as JsonObject).map(rename));
    changed = changeAt(changed, path, renameAll, copies);
  }
  return changed as JsonObject;
}

/** An object with the new names of its members. */
interface Renamed {
  readonly path: Path;
  readonly names: Map<string, string>;
}

function renamed(changes: readonly { readonly path: Path; readonly kind: TextPart['kind']; readonly next: string }[]): Renamed[] {
  const holders = new Map<string, Renamed>();
  for (const { path, kind, next } of changes) {
    if (kind !== 'name') continue;
    const own = path.slice(0, -1);
    const key = JSON.stringify(own);
    const holder = holders.get(key) ?? { path: own, names: new Map() };
    holders.set(key, holder);
    holder.names.set(path.at(-1) as string, next);
  }
  return [...holders.values()];
}

/** Changes the value at a path. Each object and array is copied once into `copies`: a copy for every change would take quadratic time. */
function changeAt(value: unknown, path: Path, change: (value: unknown) => unknown, copies: Set<unknown>, at = 0): unknown {
  if (at === path.length) return change(value);
  const key = path[at] as string | number;
  const copy = copies.has(value) ? value : Array.isArray(value) ? [...value] : { ...(value as JsonObject) };
  copies.add(copy);
  (copy as JsonObject)[key] = changeAt((copy as JsonObject)[key], path, change, copies, at + 1);
  return copy;
}

function foreignTexts(operation: OperationName, body: JsonObject, keys: readonly string[], parts: TextPart[]): void {
  // A request has few members, and there are many foreign keys.
  for (const key in body) {
    if (!foreignKeys.has(key) || keys.includes(key) || settingKeys[operation]?.includes(key)) continue;
    if (!parts.some(({ path }) => path[0] === key)) everyText(body[key], [key], parts);
  }
}

function inputTexts(value: unknown, path: Path, scope: Scope, parts: TextPart[]): void {
  const [key] = path;
  if (dataKeys.has(key as string)) return dataTexts(value, path, parts);
  if (!Array.isArray(value) || (key !== 'messages' && key !== 'input')) return contentTexts(value, path, parts);
  const isOfUser = (item: unknown) => !isObject(item) || item.role === undefined || item.role === 'user';
  for (const [index, item] of value.entries()) {
    if (scope === 'user_messages' && !isOfUser(item)) continue;
    // The last message counts. Items of `input` belong together.
    if (scope === 'last_message' && key === 'messages' && index < value.length - 1) continue;
    const at = [...path, index];
    if (!isObject(item)) {
      contentTexts(item, at, parts);
      continue;
    }
    // Providers ignore members that are not of their format, so none of these hides another.
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
      contentTexts(item.output, [...at, 'output'], parts);
    // Results of the tools of a provider, such as `shell_call_output`, have forms of their own.
    else everyText(item.output, [...at, 'output'], parts);
    // The result of a program that called tools, and the reason for a refused call.
    if (item.type === 'program_output') contentTexts(item.result, [...at, 'result'], parts);
    if (item.type === 'mcp_approval_response') contentTexts(item.reason, [...at, 'reason'], parts);
    contentTexts(item.content, [...at, 'content'], parts);
  }
}

function outputTexts(value: unknown, path: Path, parts: TextPart[]): void {
  if (!Array.isArray(value)) return contentTexts(value, path, parts);
  for (const [index, item] of value.entries()) {
    if (!isObject(item)) continue;
    const at = [...path, index];
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    // Providers of chat completions may repeat the text beside the message.
    if (isObject(item.message)) {
      contentTexts(item.message.content, [...at, 'message', 'content'], parts);
      contentTexts(item.message.refusal, [...at, 'message', 'refusal'], parts);
      if (isObject(item.message.audio))
        contentTexts(item.message.audio.transcript, [...at, 'message', 'audio', 'transcript'], parts);
    } else if (typeof item.text !== 'string') {
      contentTexts(item.content, [...at, 'content'], parts);
      if (item.type === 'reasoning') contentTexts(item.summary, [...at, 'summary'], parts);
    }
  }
}

/** Any JSON. Of objects that hold nothing but a `text`, such as documents of a rerank, the text is read without its name. */
function dataTexts(value: unknown, path: Path, parts: TextPart[]): void {
  if (Array.isArray(value)) for (const [index, item] of value.entries()) dataTexts(item, [...path, index], parts);
  else if (isObject(value) && typeof value.text === 'string' && Object.keys(value).length === 1)
    parts.push({ text: value.text, path: [...path, 'text'] });
  else everyText(value, path, parts, true);
}

/** A text, or a list of texts and of parts with text. */
function contentTexts(value: unknown, path: Path, parts: TextPart[]): void {
  if (typeof value === 'string') parts.push({ text: plainText(value), path });
  // No format has it, but some servers accept it.
  else if (isObject(value)) everyText(value, path, parts);
  if (!Array.isArray(value)) return;
  for (const [i, item] of value.entries()) {
    const at = [...path, i];
    if (typeof item === 'string') parts.push({ text: plainText(item), path: at });
    if (!isObject(item)) continue;
    if (typeof item.text === 'string') parts.push({ text: plainText(item.text), path: [...at, 'text'] });
    if (typeof item.refusal === 'string') parts.push({ text: item.refusal, path: [...at, 'refusal'] });
    if (typeof item.filename === 'string') parts.push({ text: item.filename, path: [...at, 'filename'] });
    if (isObject(item.file)) contentTexts(item.file.filename, [...at, 'file', 'filename'], parts);
    if (typeof item.transcript === 'string') parts.push({ text: item.transcript, path: [...at, 'transcript'] });
    if (item.type === 'tool_result') contentTexts(item.content, [...at, 'content'], parts);
    else if (typeof item.type === 'string' && item.type.endsWith('_tool_result'))
      everyText(item.content, [...at, 'content'], parts);
    if (item.type === 'document') documentTexts(item, at, parts);
    if (item.type === 'search_result') everyText(item, at, parts);
    fileTexts(item, at, parts);
  }
}

/** Texts of a document in a message: its title and context, and its content if that is text. */
function documentTexts({ title, context, source }: JsonObject, path: Path, parts: TextPart[]): void {
  contentTexts(title, [...path, 'title'], parts);
  contentTexts(context, [...path, 'context'], parts);
  if (!isObject(source)) return;
  if (source.type === 'text') contentTexts(source.data, [...path, 'source', 'data'], parts);
  contentTexts(source.content, [...path, 'source', 'content'], parts);
}
