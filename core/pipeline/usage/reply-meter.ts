import type { PassedRequest, RequestContext } from '../../contract/plugin/context.ts';
import { isEstimable, makesImages, makesSpeech } from '../../contract/plugin/passed-traffic.ts';
import type { PassedUsage } from '../../contract/plugin/passed-usage.ts';
import type { StreamDecoder } from '../../contract/provider/provider.ts';
import { findHeader, type HeaderList } from '../../contract/values/http.ts';
import { isObject, type JsonObject, type Maybe } from '../../contract/values/json.ts';
import { emptyUsage, type Usage } from '../../contract/values/usage.ts';
import { JsonScanner, type Picks, scanTable, type TextKind } from '../request/json-scanner.ts';
import { bytesPerToken } from '../request/passed-request.ts';
import { SideDecoder } from './side-decoder.ts';

/** The locations of usage in replies of all formats. */
const picks: Picks = {
  ...{ usage: true, usageMetadata: true, usage_info: true, 'amazon-bedrock-invocationMetrics': true },
  ...{ prompt_eval_count: true, eval_count: true },
  meta: { billed_units: true, tokens: true },
  delta: { usage: true },
  x_groq: { usage: true },
  message: { usage: true, model: true },
  response: { usage: true, model: true, service_tier: true },
  ...{ model: true, modelVersion: true, service_tier: true, serviceTier: true },
};
const kinds: Readonly<Record<string, TextKind>> = {
  ...{ content: 'text', text: 'text', thinking: 'text', reasoning: 'text', reasoning_content: 'text', arguments: 'text' },
  ...{ refusal: 'text', partial_json: 'text', delta: 'text', output: 'text', outputText: 'text', generation: 'text' },
  ...{ completion: 'text', response: 'text', transcript: 'text' },
  ...{ b64_json: 'item', url: 'item', bytesBase64Encoded: 'item' },
};
const replyTable = scanTable(picks, kinds, { countsAll: false });

/** Members that are counts themselves; the others are objects of counts. */
const named: Readonly<Record<string, string>> = {
  'meta.billed_units': 'billed_units',
  'meta.tokens': 'tokens',
  prompt_eval_count: 'prompt_eval_count',
  eval_count: 'eval_count',
};

/**
 * Reads the usage of a pass-through reply while its bytes pass. Holds a few counts and no bytes. Missing usage is estimated by
 * the size of request and reply.
 */
export class ReplyMeter {
  readonly #ctx: RequestContext;
  readonly #format: PassedUsage;
  readonly #scanner: JsonScanner | null;
  readonly #isStream: boolean;
  readonly #frames: StreamDecoder | null;
  readonly #decoder: SideDecoder | null;
  /** True: only the number of bytes is counted. */
  readonly #countsBytes: boolean;
  #counts: JsonObject | null = null;
  #countings = 0;
  #serviceTier: unknown = null;
  #bytes = 0;
  #failed = false;

  constructor(ctx: RequestContext, headers: HeaderList, format: PassedUsage) {
    this.#ctx = ctx;
    this.#format = format;
    const type = findHeader(headers, 'content-type') ?? 'application/json';
    const encoding = findHeader(headers, 'content-encoding') ?? 'identity';
    const isFrames = type.startsWith(format.frames.contentType);
    this.#isStream = isFrames || lineTypes.test(type);
    const isRead = this.#isStream || jsonType.test(type);
    const isEncoded = encoding !== 'identity';
    this.#decoder = isRead && isEncoded ? SideDecoder.of(encoding, (chunk) => this.#read(chunk)) : null;
    const isReadable = isRead && (!isEncoded || this.#decoder !== null);
    this.#scanner = isReadable ? new JsonScanner(replyTable, this.#isStream, (path, value) => this.#found(path, value)) : null;
    this.#frames = isReadable && isFrames ? format.frames.create() : null;
    this.#countsBytes = !isReadable && (isRead || type.startsWith('text/'));
    if (this.#isStream) ctx.stream = true;
    this.#readHeaders(headers);
  }

  push(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#decoder) this.#decoder.push(chunk);
    else if (this.#scanner) this.#read(chunk);
  }

  /** Call once at the end of the reply. Resolves when all of it was read. Never rejects. */
  end(): Maybe<void> {
    return this.#decoder?.end();
  }

  /** Returns the usage of the whole reply. */
  usage(): Usage | null {
    const stated = this.#stated();
    if (stated !== null || !isEstimable(this.#ctx.endpoint?.proxyPath ?? '')) return stated;
    return { ...this.#estimate(), estimated: true };
  }

  /** Returns the usage of a reply that is cut at this point. */
  unfinished(): Usage {
    this.#decoder?.discard();
    const estimate = this.#estimate();
    const stated = this.#stated();
    if (stated === null) return { ...estimate, estimated: true };
    return stated.outputTokens >= estimate.outputTokens
      ? stated
      : { ...stated, outputTokens: estimate.outputTokens, estimated: true };
  }

  #read(chunk: Uint8Array): void {
    if (this.#failed) return;
    if (this.#frames === null) return this.#scanner?.push(chunk);
    try {
      for (const { data } of this.#frames.push(chunk)) this.#scanner?.push(Buffer.from(`${JSON.stringify(data)}\n`));
    } catch {
      // Damaged frames are forwarded unchanged.
      this.#failed = true;
    }
  }

  #found(path: string, value: unknown): void {
    if (value === null) return;
    const name = path.slice(path.lastIndexOf('.') + 1);
    if (name === 'model' || name === 'modelVersion') {
      if (typeof value === 'string') this.#ctx.model ??= value.slice(0, 255);
    } else if (name === 'service_tier' || name === 'serviceTier') this.#serviceTier = value;
    else {
      const counts = Object.hasOwn(named, path) ? { [named[path] as string]: value } : value;
      if (!isObject(counts)) return;
      this.#countings++;
      // Counts of a stream are cumulative, so later counts replace earlier ones.
      this.#counts = this.#counts === null ? withoutNulls(counts) : { ...this.#counts, ...withoutNulls(counts) };
    }
  }

  /** InvokeModel of Bedrock reports in headers the usage that the formats of some models lack. */
  #readHeaders(headers: HeaderList): void {
    const input = findHeader(headers, 'x-amzn-bedrock-input-token-count');
    const output = findHeader(headers, 'x-amzn-bedrock-output-token-count');
    if (input === undefined && output === undefined) return;
    this.#counts = { inputTokenCount: Number(input ?? 0), outputTokenCount: Number(output ?? 0) };
  }

  #stated(): Usage | null {
    const usage = this.#counts === null ? null : this.#format.read(this.#counts, this.#serviceTier);
    const path = this.#ctx.endpoint?.proxyPath ?? '';
    if (makesImages(path)) return this.#withImages(usage);
    const { input } = this.#ctx.passed?.params ?? {};
    if (usage !== null || !makesSpeech(path) || typeof input !== 'string') return usage;
    return { ...emptyUsage(), units: { characters: [...input].length } };
  }

  #withImages(usage: Usage | null): Usage | null {
    const images = this.#isStream ? this.#countings : (this.#scanner?.items ?? 0);
    if (images === 0) return usage;
    const counted = usage ?? emptyUsage();
    return { ...counted, units: { ...counted.units, generated_images: images } };
  }

  #estimate(): Usage {
    const read = this.#scanner && !this.#failed && !this.#decoder?.failed ? this.#scanner : null;
    const bytes = read ? read.textBytes : this.#countsBytes || this.#scanner ? this.#bytes : 0;
    const events = read && this.#isStream ? read.objects : 0;
    const outputTokens = Math.max(events, Math.ceil(bytes / bytesPerToken));
    return { ...emptyUsage(), inputTokens: this.#ctx.passed?.inputTokens ?? 0, outputTokens };
  }
}

/** Returns the usage of a request that its provider has not begun to reply. */
export function unansweredUsage(passed: PassedRequest | null): Usage | null {
  return passed && { ...emptyUsage(), inputTokens: passed.inputTokens, estimated: true };
}

function withoutNulls(counts: JsonObject): JsonObject {
  for (const name in counts)
    if (counts[name] === null) return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null));
  return counts;
}

const jsonType = /^application\/([\w.+-]+\+)?json\b/i;
/** Content types with one JSON value per line. */
const lineTypes = /^(?:text\/event-stream|application\/(?:x-ndjson|ndjson|jsonl|stream\+json|x-jsonlines))/i;
