import type { PassedRequest, RequestContext } from '../../contract/plugin/context.ts';
import { makesSpeech } from '../../contract/plugin/passed-traffic.ts';
import type { BodyConsumer, RequestBody } from '../../contract/values/http.ts';
import type { JsonObject } from '../../contract/values/json.ts';
import { JsonScanner, type Picks, scanTable, type TextKind } from './json-scanner.ts';

/** Bytes of text per token, roughly. */
export const bytesPerToken = 4;
/** Tokens of a request that is not JSON (audio, images, forms), at most. */
const dataTokensMax = 1_000;

const picks: Picks = {
  ...{ model: true, modelId: true, max_tokens: true, max_completion_tokens: true, max_output_tokens: true, n: true },
  ...{ quality: true, size: true, service_tier: true, stream: true, background: true },
  stream_options: { include_usage: true },
  generationConfig: { maxOutputTokens: true, candidateCount: true },
  inferenceConfig: { maxTokens: true },
};
const kinds: Readonly<Record<string, TextKind>> = {
  data: 'data',
  url: 'data',
  image_url: 'data',
  file_data: 'data',
  b64_json: 'data',
};
const requestTable = scanTable(picks, kinds, { countsAll: true });
/** Speech is billed by the characters of its text. */
const speechTable = scanTable({ ...picks, input: true }, kinds, { countsAll: true });

/** OpenAI's names of what other formats call otherwise. */
const names: Readonly<Record<string, string>> = {
  modelId: 'model',
  'generationConfig.maxOutputTokens': 'max_tokens',
  'generationConfig.candidateCount': 'n',
  'inferenceConfig.maxTokens': 'max_tokens',
  'stream_options.include_usage': 'include_usage',
};

/**
 * Begins to read what a pass-through request says about its price, if it may run a model. Reads the body if it is at hand;
 * otherwise `meteredBody` and `readHeldBody` read it later. Sets `ctx.model` from the path, else from the body, else from the query.
 */
export function readPassed(ctx: RequestContext): void {
  const { endpoint } = ctx;
  if (endpoint?.traffic === undefined || endpoint.traffic === 'free') return;
  ctx.model = modelInPath(endpoint.proxyPath) ?? modelInQuery(ctx.query);
  ctx.passed = new PassedFacts(ctx);
  readHeldBody(ctx);
}

/** Reads a body that came to hand after `readPassed`. */
export function readHeldBody(ctx: RequestContext): void {
  if (ctx.body !== null && ctx.passed instanceof PassedFacts) ctx.passed.push(ctx.body);
}

/** A body that streams to the provider, read as it passes. */
export function meteredBody(ctx: RequestContext, body: RequestBody): RequestBody {
  const facts = ctx.passed;
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

/** The model in a path: `/models/<model>:generateContent`, `/model/<model>/invoke`, `/deployments/<model>/…`; null without one. */
export function modelInPath(path: string): string | null {
  const match = /\/(?:models\/([^/:?]+):|model\/([^/?]+)\/|deployments\/([^/?]+)\/)/.exec(path);
  const name = match?.[1] ?? match?.[2] ?? match?.[3];
  if (name === undefined) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

function modelInQuery(query: string): string | null {
  return query.includes('model=') ? new URLSearchParams(query).get('model') : null;
}

/** Reads a request that is passed through as its bytes pass. */
export class PassedFacts implements PassedRequest {
  readonly params: JsonObject = {};
  readonly #ctx: RequestContext;
  readonly #type: string;
  readonly #isEncoded: boolean;
  readonly #scanner: JsonScanner | null;
  readonly #hasModel: boolean;
  #bytes = 0;

  constructor(ctx: RequestContext) {
    this.#ctx = ctx;
    this.#type = ctx.request.header('content-type') ?? 'application/json';
    const encoding = ctx.request.header('content-encoding');
    this.#isEncoded = encoding !== undefined && encoding !== 'identity';
    this.#hasModel = ctx.model !== null;
    const isScanned = !this.#isEncoded && jsonType.test(this.#type);
    const table = makesSpeech(ctx.endpoint?.proxyPath ?? '') ? speechTable : requestTable;
    this.#scanner = isScanned ? new JsonScanner(table, false, (path, value) => this.#found(names[path] ?? path, value)) : null;
  }

  push(chunk: Uint8Array): void {
    if (this.#bytes === 0 && !this.#isEncoded && formType.test(this.#type)) this.#readForm(chunk);
    this.#bytes += chunk.length;
    this.#scanner?.push(chunk);
  }

  /** JSON by the length of its texts, other text by its size. Other bodies have few tokens for their size: sound, pictures. */
  get inputTokens(): number {
    const bytes = Math.max(this.#bytes, this.#ctx.request.body.length);
    if (this.#scanner && this.#bytes > 0) return Math.ceil(this.#scanner.textBytes / bytesPerToken);
    const tokens = Math.ceil(bytes / (this.#isEncoded ? 1 : bytesPerToken));
    return jsonType.test(this.#type) || /^text\//i.test(this.#type) ? tokens : Math.min(tokens, dataTokensMax);
  }

  /** SDKs send the text fields of a form before its files. */
  #readForm(head: Uint8Array): void {
    const text = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, formHeadBytes)).toString('utf8');
    const model = /name="?model"?\r?\n(?:[^\r\n]+\r?\n)*\r?\n([^\r\n]+)\r?\n/.exec(text)?.[1];
    if (model !== undefined) this.#found('model', model);
  }

  #found(name: string, value: unknown): void {
    if (typeof value === 'object') return;
    this.params[name] = value;
    if (name === 'model' && typeof value === 'string' && value !== '' && !this.#hasModel) this.#ctx.model = value.slice(0, 255);
  }
}

/** Maximum bytes of a form that are searched for its text fields. */
export const formHeadBytes = 64 * 1024;
export const jsonType = /^application\/([\w.+-]+\+)?json\b/i;
export const formType = /^multipart\/form-data\b/i;
