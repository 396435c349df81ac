import type { RequestContext } from '../../core/contract/plugin/context.ts';
import { describesResources, managesOnly } from '../../core/contract/plugin/requests/passed-traffic.ts';
import type { OperationName } from '../../core/contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { addressTexts } from './address-texts.ts';
import { dataKeys, dataTexts, inputTexts, outputTexts } from './content-texts.ts';
import { everyText, isWord, memberTexts, notText, type Path, type TextPart } from './every-text.ts';
import { folded, isInOtherCase } from './other-case.ts';

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
  // A text behind that of the model is a part of the prompt too.
  complete: { input: ['prompt', 'suffix'], output: ['choices'] },
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
const foldedKeys: ReadonlySet<string> = new Set([...foreignKeys, 'input', 'state', 'documents'].map(folded));
/** Fields of the client's format that have the name of a foreign key and hold settings, or texts for a stored prompt. */
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
export const ofRequest: ReadonlySet<string> = new Set([
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
    ([name, value]) => namesOfTexts.has(name) || tokenKeys.has(name) || holdsText(name, value),
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
      else memberTexts(key, body[key], [key], parts);
    }
  } else if (side === 'output' && otherReplies.has(operation)) for (const key of keys) everyText(body[key], [key], parts);
  else if (side === 'input') for (const key of keys) inputTexts(body[key], [key], scope, parts);
  else {
    for (const key of keys) outputTexts(body[key], [key], parts);
    reasonOfRefusal(body, parts);
  }
  if (side === 'input' && scope !== 'all_messages') foreignTexts(operation, body, keys, parts);
  return parts.filter(({ text }) => text !== '');
}

/** Adds the reason for a refusal that Messages has beside its content. In chats it repeats `refusal`. */
function reasonOfRefusal({ stop_details: details }: JsonObject, parts: TextPart[]): void {
  if (!isObject(details) || typeof details.explanation !== 'string') return;
  parts.push({ text: details.explanation, path: ['stop_details', 'explanation'] });
}

/** Returns true for a prompt or an input of token ids or embeddings, which checks cannot read. */
export function hasTokenIds(operation: OperationName | null, body: JsonObject): boolean {
  const takesLists = operation === 'complete' || operation === 'embed' || operation === null;
  for (const key in body) {
    const name = folded(key);
    const value = body[key];
    if (tokenKeys.has(name) && value !== undefined && value !== null) return true;
    if ((tokenLists.has(name) || (takesLists && (name === 'prompt' || name === 'input'))) && hasNumber(value)) return true;
  }
  return false;
}

function hasNumber(value: unknown): boolean {
  return Array.isArray(value) && value.flat().some((item) => typeof item === 'number');
}

/** Fields in which vLLM and SGLang take tokens and embeddings in place of a text. */
const tokenKeys: ReadonlySet<string> = new Set(['prompt_token_ids', 'input_ids', 'prompt_embeds', 'input_embeds']);
/** Fields in which Ollama takes the tokens of an earlier reply, and vLLM those of a prompt. Others may have a text of these names. */
const tokenLists: ReadonlySet<string> = new Set(['context', 'token_ids']);

/** Adds the texts of fields beside the content of the client's format. */
function foreignTexts(operation: OperationName, body: JsonObject, keys: readonly string[], parts: TextPart[]): void {
  const settings = settingKeys[operation];
  // A request has few members, and there are many foreign keys.
  for (const key in body) {
    if (!foreignKeys.has(key) && !isInOtherCase(key, foldedKeys)) continue;
    if (keys.includes(key)) continue;
    const value = body[key];
    if (settings?.includes(key)) variableTexts(value, [key], parts);
    else memberTexts(key, value, [key], parts);
  }
}

/** The variables of a prompt that OpenAI stores. The client may send its whole content in them. */
function variableTexts(prompt: unknown, path: Path, parts: TextPart[]): void {
  if (isObject(prompt)) memberTexts('variables', prompt.variables, [...path, 'variables'], parts);
}
