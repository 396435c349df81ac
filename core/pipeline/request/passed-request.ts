import type { RequestContext } from '../../contract/plugin/context.ts';
import { isSession } from '../../contract/plugin/requests/is-session.ts';
import {
  makesSpeech,
  managesOnly,
  namesModelInMessages,
  type PassedRequest,
} from '../../contract/plugin/requests/passed-traffic.ts';
import { isUpload } from '../../contract/plugin/requests/uploads.ts';
import type { Locations } from '../../contract/provider/passed-usage.ts';
import type { ProviderAdapter } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { BodyConsumer, RequestBody } from '../../contract/values/http/http.ts';
import { isJsonType, isMultipartForm } from '../../contract/values/http/media-types.ts';
import { hasDuplicateKeys } from '../../contract/values/json/duplicate-keys.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';
import { textOf } from '../../contract/values/text/utf8.ts';
import { fieldsInHead, formHeadBytes, formStepBytes, paramSteps, paramsOfForm, parseForm } from './form-data.ts';
import { checkJsonLimits } from './json-limits.ts';
import { JsonScanner, scanTable, type TextKind } from './json-scanner.ts';
import { type AddressedModel, addressedModel, isEncoded, modelsInForm } from './passed-model.ts';
import { peekBody } from './peek-body.ts';
import type { BodyLimits } from './read-body.ts';
import { servedModelReader } from './served-model-reader.ts';

/** Approximate number of text bytes per token. */
export const bytesPerToken = 4;
/** Maximum number of tokens assumed for a request that is not JSON (audio, images, forms). */
const dataTokensMax = 1_000;

const locations: Locations = {
  ...{
    ...{ model: true, modelId: true, models: true, fallbacks: true },
    max_tokens: true,
    max_completion_tokens: true,
    max_output_tokens: true,
    n: true,
    best_of: true,
  },
  ...{
    quality: true,
    size: true,
    service_tier: true,
    serviceTier: true,
    speed: true,
    stream: true,
    background: true,
    deferred: true,
  },
  stream_options: { include_usage: true },
  generationConfig: { maxOutputTokens: true, candidateCount: true },
  generation_config: { max_output_tokens: true },
  inferenceConfig: { maxTokens: true },
};
/** Members with lists of models. */
const alternatives: ReadonlySet<string> = new Set(['models', 'fallbacks']);
const kinds: Readonly<Record<string, TextKind>> = {
  data: 'data',
  url: 'data',
  image_url: 'data',
  file_data: 'data',
  b64_json: 'data',
};
const requestTable = scanTable(locations, kinds, { countsAll: true });
/** Speech is billed by the characters of its text. */
const speechTable = scanTable({ ...locations, input: true }, kinds, { countsAll: true });

/** OpenAI's names for members with other names in other formats. */
const names: Readonly<Record<string, string>> = {
  modelId: 'model',
  'generationConfig.maxOutputTokens': 'max_tokens',
  'generationConfig.candidateCount': 'n',
  'generation_config.max_output_tokens': 'max_tokens',
  'inferenceConfig.maxTokens': 'max_tokens',
  'stream_options.include_usage': 'include_usage',
};

/**
 * Reads the data of a pass-through request that plan and limits need before its call: the body, its parameters, or the facts about its
 * price. Rejects with the error of the body, `body_too_large`, or `overloaded`.
 */
export async function readPassedRequest(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  if (ctx.body === null && mustBuffer(ctx, limits.jsonBytesMax)) ctx.body = await ctx.readBytes(limits.jsonBytesMax);
  if (ctx.plan.readsParams) await peekParams(ctx, limits);
  beginFacts(ctx);
  if (isSession(ctx.endpoint, ctx.request)) nameSessionModel(ctx);
  if (ctx.passed && isLimited(ctx)) await holdForLimits(ctx, limits);
}

/** Pass-through bodies up to this size cost less to hold than to stream, and can be sent a second time. */
const smallBodyBytes = 64 * 1024;

/** True for a pass-through body that is held in memory: a small one, one that a plugin reads, and one that may be sent a second time. */
function mustBuffer({ request, plan }: RequestContext, bytesMax: number): boolean {
  const { length } = request.body;
  if (length === 0) return false;
  if (plan.readsBody || (length > 0 && length <= smallBodyBytes)) return true;
  const [first] = plan.targets;
  // A body that may be sent a second time, or is part of a cache key, must be in memory.
  const again = plan.targets.length > 1 || (first?.retry?.attempts ?? 0) > 0 || (first?.cache ?? null) !== null;
  return again && length > 0 && length <= bytesMax;
}

/**
 * Begins to read the facts about the price of a request that may run a model. Reads the body if it is in memory; otherwise
 * `meteredBody` and `readHeldBody` read it later. Names the model of the address, else of the body.
 */
function beginFacts(ctx: RequestContext): void {
  if (ctx.endpoint?.traffic === undefined || ctx.endpoint.traffic === 'free') return;
  const addressed = addressedModel(ctx.endpoint.proxyPath, ctx.query, ctx.request);
  ctx.nameModel(addressed.model);
  ctx.passed = new PassedFacts(ctx, addressed);
  readHeldBody(ctx);
}

/**
 * Names the model of a session whose address names it, so that its price is known and guardrails can check it before the session begins.
 * Azure's clients name a `deployment`.
 */
function nameSessionModel(ctx: RequestContext): void {
  const query = new URLSearchParams(ctx.query);
  if (ctx.model !== null || namesModelInMessages(ctx.endpoint?.proxyPath ?? '') || joinsCall(query)) return;
  ctx.nameModel(query.get('model') ?? query.get('deployment'));
}

/** True for a session that joins a call which exists. Its model is that of the call, whatever the address names. */
export function joinsCall(query: URLSearchParams): boolean {
  return query.has('call_id');
}

/** True for callers with a budget, rate limit or policies: what their requests may use is reserved before the call. */
function isLimited({ identity, workspace }: RequestContext): boolean {
  if (identity?.limits || identity?.rejectUnmetered) return true;
  if (workspace?.hasPolicies) return true;
  return Boolean(workspace?.usageLimits?.length || workspace?.rateLimits?.length || workspace?.rejectUnmetered);
}

/**
 * Reads the part of a pass-through body that decides about its price, before the call: JSON of at most `jsonBytesMax`, and the text fields at
 * the beginning of a form. Larger JSON is reserved by its size. Rejects with the error of the body, `body_too_large` for chunked JSON beyond
 * `jsonBytesMax`, or `overloaded`.
 */
export async function holdForLimits(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (ctx.body !== null || ctx.peekedBody !== null || ctx.bodyTaken || body.length === 0) return;
  const type = ctx.request.header('content-type') ?? 'application/json';
  if (isJsonType(type) && body.length <= limits.jsonBytesMax) {
    ctx.body = await ctx.readBytes(limits.jsonBytesMax);
    readHeldBody(ctx);
  } else if (isMultipartForm(type)) {
    const peeked = await peekBody(body, formHeadBytes, limits.streamedBytesMax, (bytes) => ctx.holdBytes(bytes));
    if (peeked.isWhole) {
      ctx.body = peeked.head;
      ctx.requestBytes = peeked.head.length;
      readHeldBody(ctx);
    } else {
      (ctx.passed as PassedFacts).pushHeld(peeked.head);
      ctx.peekedBody = peeked.from(peeked.head);
    }
  }
}

/**
 * Fills `ctx.passedParams` of a pass-through request, for a plan that asks for parameters: from JSON of at most `jsonBytesMax`, and from
 * the text fields of a form of at most `formBytesMax`, of a larger one those that its first 64 KiB contain completely. The bytes are sent unchanged. A body that cannot be read, or has a name
 * twice, has no parameters. Rejects with the error of the body, or `overloaded`.
 */
async function peekParams(ctx: RequestContext, limits: BodyLimits): Promise<void> {
  const { body } = ctx.request;
  if (body.length === 0) return;
  const type = ctx.request.header('content-type') ?? '';
  const isForm = isMultipartForm(type);
  if (!isForm && !isJsonType(type)) return;
  const bytesMax = isForm ? readFormBytes(ctx, limits) : limits.jsonBytesMax;
  let head = ctx.body;
  if (head === null) {
    // JSON is read whole or not at all.
    if (!isForm && body.length > bytesMax) return;
    const peeked = await peekBody(body, bytesMax, limits.streamedBytesMax, (bytes) => ctx.holdBytes(bytes));
    head = peeked.head;
    if (peeked.isWhole) {
      ctx.body = head;
      ctx.requestBytes = head.length;
    } else {
      ctx.peekedBody = peeked.from(head);
      if (!isForm) return;
    }
  }
  ctx.passedParams = isForm ? await formParams(ctx, head, type) : jsonParams(head, limits.jsonValuesMax);
}

/** A text field may follow a file of any size. Forms that only manage resources have no fields for checks, and forms above the limit are streamed. */
function readFormBytes({ endpoint, request, plan }: RequestContext, { formBytesMax }: BodyLimits): number {
  const isRead = !managesOnly(endpoint?.proxyPath ?? '') || (plan.readsUploads && isUpload({ endpoint, request }));
  return isRead && request.body.length <= formBytesMax ? formBytesMax : formHeadBytes;
}

/** Returns the fields of a form. Fills `ctx.form` of a whole one if the plan judges files. Rejects with `overloaded`. */
async function formParams(ctx: RequestContext, head: Uint8Array, contentType: string): Promise<JsonObject | null> {
  const isWhole = ctx.body !== null;
  const readsFiles = isWhole && ctx.plan.readsUploads;
  // The parser copies large files.
  if (readsFiles) ctx.holdBytes(head.length);
  try {
    const inTurns = <Result>(steps: Generator<void, Result>) => ctx.inTurns(steps);
    const parts = isWhole
      ? await parseForm(head, contentType, inTurns)
      : await fieldsInHead(head.subarray(0, formHeadBytes), contentType);
    if (readsFiles) ctx.form = parts;
    return head.length > formStepBytes ? await inTurns(paramSteps(parts)) : paramsOfForm(parts);
  } catch (thrown) {
    if (ctx.aborted) throw thrown;
    ctx.formError = (thrown as Error).message;
    return null;
  }
}

function jsonParams(body: Uint8Array, valuesMax: number): JsonObject | null {
  try {
    checkJsonLimits(body, valuesMax);
    const text = textOf(body);
    const value: unknown = JSON.parse(text);
    // The provider might read the first value of a name, and the parser reads the last.
    return isObject(value) && !hasDuplicateKeys(text, value) ? value : null;
  } catch {
    return null;
  }
}

/** Reads a body that became available after `readPassedRequest`. Throws `bad_request` for a form with two models. */
export function readHeldBody(ctx: RequestContext): void {
  if (ctx.body !== null && ctx.passed instanceof PassedFacts) ctx.passed.pushHeld(ctx.body);
}

/** Names the model of a pass-through request to a target, whose path may have a model that only its provider knows. */
export function nameModelOfTarget({ passed, request, endpoint }: RequestContext, adapter: ProviderAdapter): void {
  if (request.method !== 'POST' || !(passed instanceof PassedFacts)) return;
  passed.nameModel(adapter.modelSources?.inPath?.(endpoint?.proxyPath ?? '') ?? null);
  passed.choosesModel = adapter.choosesModel;
}

/** Returns a body that is read for `facts` while it is streamed to the provider. */
export function meteredBody(facts: PassedRequest | null, body: RequestBody): RequestBody {
  if (!(facts instanceof PassedFacts)) return body;
  return {
    length: body.length,
    bytes: (maxBytes, onGrow, onChunk) => body.bytes(maxBytes, onGrow, onChunk),
    pipe(to, maxBytes) {
      const tee: BodyConsumer = {
        onData(chunk) {
          const more = to.onData(chunk);
          facts.push(chunk);
          return more;
        },
        onEnd: () => to.onEnd(),
        onError: (error) => to.onError(error),
      };
      return body.pipe(tee, maxBytes);
    },
  };
}

/** Reads the facts about the price of a request while its bytes pass. */
class PassedFacts implements PassedRequest {
  readonly params: JsonObject = {};
  /** Function of the target's adapter. */
  choosesModel: ProviderAdapter['choosesModel'];
  readonly #ctx: RequestContext;
  readonly #type: string;
  readonly #isEncoded: boolean;
  readonly #scanner: JsonScanner | null;
  readonly #addressed: AddressedModel;
  /** True: the model is known, whatever the body names. */
  #hasModel: boolean;
  #hasTwoModels = false;
  #bytes = 0;

  constructor(ctx: RequestContext, addressed: AddressedModel) {
    this.#ctx = ctx;
    this.#type = ctx.request.header('content-type') ?? 'application/json';
    this.#isEncoded = isEncoded(ctx.request);
    this.#addressed = addressed;
    this.#hasModel = addressed.isFinal;
    const isScanned = !this.#isEncoded && isJsonType(this.#type);
    const table = makesSpeech(ctx.endpoint?.proxyPath ?? '') ? speechTable : requestTable;
    this.#scanner = isScanned ? new JsonScanner(table, false, (path, value) => this.#found(names[path] ?? path, value)) : null;
  }

  /** Names the model of the next call: `inPath`, or that of the address or the body if it is null. */
  nameModel(inPath: string | null): void {
    const { model, isFinal } = this.#addressed;
    this.#hasModel = inPath !== null || isFinal;
    const inBody = isFinal || !isText(this.params.model) ? null : this.params.model;
    this.#ctx.nameModel(inPath ?? inBody ?? model);
  }

  servedModel(stated: string): string | null {
    return this.#hasModel ? null : (servedModelReader(this.params, this.choosesModel)?.(stated) ?? null);
  }

  /**
   * Reads bytes of a request that is not sent yet. Throws `bad_request` for a form with two models: providers read the first or the last, so its
   * price would be unknown. Streamed forms of callers without limits have the price of the first.
   */
  pushHeld(bytes: Uint8Array): void {
    this.push(bytes);
    if (this.#hasTwoModels && !this.#hasModel)
      throw new GatewayError('bad_request', { message: 'model: given twice', param: 'model' });
  }

  push(chunk: Uint8Array): void {
    if (this.#bytes === 0 && !this.#isEncoded && isMultipartForm(this.#type)) this.#readForm(chunk);
    this.#bytes += chunk.length;
    this.#scanner?.push(chunk);
  }

  /**
   * Counts JSON by the length of its texts, and other text by its size. Other bodies (audio, images) have few tokens for their
   * size.
   */
  get inputTokens(): number {
    const bytes = Math.max(this.#bytes, this.#ctx.request.body.length);
    if (this.#scanner && this.#bytes > 0) return Math.ceil(this.#scanner.textBytes / bytesPerToken);
    const tokens = Math.ceil(bytes / (this.#isEncoded ? 1 : bytesPerToken));
    return isJsonType(this.#type) || /^text\//i.test(this.#type) ? tokens : Math.min(tokens, dataTokensMax);
  }

  /** SDKs send the text fields of a form before its files. */
  #readForm(head: Uint8Array): void {
    const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, formHeadBytes)).toString('utf8');
    const [model, ...others] = modelsInForm(text, this.#type);
    if (model === undefined) return;
    this.#hasTwoModels = others.some((other) => other !== model);
    this.#found('model', model);
  }

  #found(name: string, value: unknown): void {
    if (typeof value === 'object' && !(Array.isArray(value) && alternatives.has(name))) return;
    this.params[name] = value;
    if (name === 'model' && isText(value) && !this.#hasModel) this.#ctx.nameModel(value);
  }
}
