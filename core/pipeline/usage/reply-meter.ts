import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Endpoint } from '../../contract/plugin/requests/endpoint.ts';
import { isEstimable, makesImages, makesSpeech, type PassedRequest } from '../../contract/plugin/requests/passed-traffic.ts';
import type { Locations, PassedUsage } from '../../contract/provider/passed-usage.ts';
import type { StreamDecoder } from '../../contract/provider/stream-event.ts';
import { findHeader, type HeaderList } from '../../contract/values/http/http.ts';
import { isJsonType } from '../../contract/values/http/media-types.ts';
import { isObject, isText, type JsonObject } from '../../contract/values/json/json.ts';
import { laterMembers } from '../../contract/values/json/later-members.ts';
import type { Maybe } from '../../contract/values/maybe.ts';
import { roughImageUsage } from '../../contract/values/models/rough-image-usage.ts';
import { spokenUsage } from '../../contract/values/models/spoken-usage.ts';
import { emptyUsage, inputTokensOf, noUnits, type Usage } from '../../contract/values/models/usage.ts';
import { JsonScanner, type ScanTable, scanTable, type TextKind } from '../request/json-scanner.ts';
import { bytesPerToken } from '../request/passed-request.ts';
import { newModels } from '../request/served-model-reader.ts';
import { SideDecoder } from './side-decoder.ts';

/** Locations of the model, the service tier and an error. */
const nameLocations: Locations = {
  message: { model: true },
  response: { model: true, service_tier: true },
  // The last event of a stream of Gemini's Interactions API.
  interaction: { model: true, service_tier: true },
  ...{ model: true, modelVersion: true, service_tier: true, serviceTier: true },
  // A conversation of Mistral that an agent continues names its model only here.
  'outputs[]': { model: true },
  error: true,
};
const kinds: Readonly<Record<string, TextKind>> = {
  ...{ content: 'text', text: 'text', thinking: 'text', reasoning: 'text', reasoning_content: 'text', arguments: 'text' },
  ...{ refusal: 'text', partial_json: 'text', delta: 'text', output: 'text', outputText: 'text', generation: 'text' },
  ...{ completion: 'text', response: 'text', transcript: 'text' },
  ...{ b64_json: 'item', url: 'item', bytesBase64Encoded: 'item' },
};

/** Starts to meter a pass-through reply with these headers. */
export type MeterReply = (ctx: RequestContext, headers: HeaderList) => ReplyMeter;

/** Returns a function that meters replies in these formats. */
export function createMeterReply(format: PassedUsage): MeterReply {
  const table = scanTable(merged(format.locations, nameLocations), kinds, { countsAll: false });
  return (ctx, headers) => new ReplyMeter(ctx, headers, format, table);
}

/** Merges locations. Where both name a member, it has members in both. */
function merged(left: Locations, right: Locations): Locations {
  const out: Record<string, true | Locations> = { ...left };
  for (const [name, inner] of Object.entries(right)) {
    const other = out[name];
    out[name] = typeof other === 'object' && typeof inner === 'object' ? merged(other, inner) : inner;
  }
  return out;
}

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
  /** Objects in elements of lists, by the name of their member. */
  readonly #lists: Record<string, unknown[]> = {};
  /** Number of each text in elements of lists, by the name of the member: types of output items, queries of searches. */
  readonly #tallies: Record<string, Map<string, number>> = {};
  #countings = 0;
  #serviceTier: unknown = null;
  readonly #isNewModel = newModels();
  #hasError = false;
  #bytes = 0;
  #failed = false;

  constructor(ctx: RequestContext, headers: HeaderList, format: PassedUsage, table: ScanTable) {
    this.#ctx = ctx;
    this.#format = format;
    const type = findHeader(headers, 'content-type') ?? 'application/json';
    const encoding = findHeader(headers, 'content-encoding') ?? 'identity';
    const isFrames = type.startsWith(format.frames.contentType);
    this.#isStream = isFrames || lineTypes.test(type);
    const isRead = this.#isStream || isJsonType(type);
    const isEncoded = encoding !== 'identity';
    this.#decoder = isRead && isEncoded ? SideDecoder.of(encoding, (chunk) => this.#read(chunk)) : null;
    const isReadable = isRead && (!isEncoded || this.#decoder !== null);
    this.#scanner = isReadable ? new JsonScanner(table, this.#isStream, (path, value) => this.#found(path, value)) : null;
    this.#frames = isReadable && isFrames ? format.frames.create((bytes) => ctx.holdBytes(bytes, 'response')) : null;
    this.#countsBytes = !isReadable && (isRead || type.startsWith('text/'));
    if (this.#isStream) ctx.stream = true;
    this.#counts = format.readHeaders(headers);
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
    // An error with a success status that no text precedes: no model has run.
    if (this.#hasError && this.#scanner?.textBytes === 0) return null;
    return { ...this.#estimate(), estimated: true };
  }

  /** Returns the usage of a reply that is cut at this point. */
  unfinished(): Usage {
    this.#decoder?.discard();
    const estimate = this.#estimate();
    const stated = this.#stated();
    if (stated === null && this.#isStream && makesImages(this.#ctx.endpoint?.proxyPath ?? '') && this.#scanner?.items)
      return { ...roughImageUsage(this.#ctx.passed?.params ?? {}), inputTokens: estimate.inputTokens };
    if (stated === null) return { ...estimate, estimated: true };
    const isBegun = inputTokensOf(stated) === 0 && stated.units === noUnits;
    const inputTokens = isBegun ? estimate.inputTokens : stated.inputTokens;
    if (inputTokens === stated.inputTokens && stated.outputTokens >= estimate.outputTokens) return stated;
    return { ...stated, inputTokens, outputTokens: Math.max(stated.outputTokens, estimate.outputTokens), estimated: true };
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
      if (typeof value === 'string' && this.#isNewModel(value)) this.#served(value);
    } else if (path === 'error') this.#hasError ||= isObject(value) || isText(value);
    else if (name === 'service_tier' || name === 'serviceTier') this.#serviceTier = value;
    else {
      const isBare = this.#format.bare.has(path);
      if (isBare && path.includes('[]')) return this.#addElement(name, value);
      const counts = isBare ? { [name]: value } : value;
      if (!isObject(counts)) return;
      // Each image of a stream has one object of counts.
      if (!isBare) this.#countings++;
      // Counts of a stream are cumulative, so later counts replace earlier ones.
      this.#counts = this.#counts === null ? withoutNulls(counts) : laterMembers(this.#counts, withoutNulls(counts));
    }
  }

  #served(model: string): void {
    const served = this.#ctx.model === null ? model : (this.#ctx.passed?.servedModel(model) ?? null);
    if (served !== null) this.#ctx.nameModel(served);
  }

  /** Adds a value of an element of a list. A reply may have millions of elements, so nothing is copied, and equal texts are counted. */
  #addElement(name: string, value: unknown): void {
    if (typeof value === 'string') this.#addText(name, value);
    else if (Array.isArray(value)) for (const text of value) this.#addText(name, text);
    else if (isObject(value)) {
      this.#lists[name] ??= [];
      const list = this.#lists[name];
      if (list.length < objectsMax) list.push(value);
    }
  }

  #addText(name: string, text: unknown): void {
    if (typeof text !== 'string') return;
    this.#tallies[name] ??= new Map();
    const tally = this.#tallies[name];
    const count = tally.get(text);
    if (count !== undefined) tally.set(text, count + 1);
    else if (tally.size < textsMax) tally.set(text, 1);
  }

  #stated(): Usage | null {
    const counts = this.#counts === null ? null : { ...this.#counts, ...this.#lists, ...this.#tallies };
    const usage = counts === null ? null : this.#format.read(counts, this.#serviceTier);
    const path = this.#ctx.endpoint?.proxyPath ?? '';
    if (makesImages(path)) return this.#withImages(usage);
    const { input } = this.#ctx.passed?.params ?? {};
    if (usage !== null || !makesSpeech(path) || typeof input !== 'string') return usage;
    return spokenUsage(input, this.#ctx.model);
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

/** Returns the usage of a pass-through request that its provider has not begun to reply. Null if providers do not bill it. */
export function usageWithoutResponse(passed: PassedRequest, endpoint: Endpoint | null): Usage | null {
  if (endpoint?.traffic === 'free' || !isEstimable(endpoint?.proxyPath ?? '')) return null;
  return { ...emptyUsage(), inputTokens: passed.inputTokens, estimated: true };
}

function withoutNulls(counts: JsonObject): JsonObject {
  for (const name in counts)
    if (counts[name] === null) return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null));
  return counts;
}

/** Objects of one list whose counts are read. */
const objectsMax = 100;

/** Different texts of one list that are counted. */
const textsMax = 1_000;

/** Content types with one JSON value per line. */
const lineTypes = /^(?:text\/event-stream|application\/(?:x-ndjson|ndjson|jsonl|stream\+json|x-jsonlines))/i;
