import type { SessionRecord } from '../contract/plugin/record/record.ts';
import { recordedPart } from '../contract/plugin/record/recorded-usage.ts';
import { sizeClassOf } from '../contract/provider/batch-usage.ts';
import { isObject, isText, type JsonObject } from '../contract/values/json/json.ts';
import { emptyUsage, statedCount, type Usage } from '../contract/values/models/usage.ts';

/** Maximum number of parts of the usage that are summed separately. Providers choose the names of service tiers. */
const partsMax = 16;
/** Maximum depth, and number of names and of models, of the provider's counts that are stored. */
const rawDepthMax = 4;
const rawNamesMax = 50;

const counted = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
  'imageInputTokens',
  'imageOutputTokens',
] as const;

/**
 * Adds up the tokens of a session. Most events are audio and are skipped by one text search: only events with usage are parsed.
 */
export class SessionUsage {
  readonly #read: (event: JsonObject) => Usage | null;
  #total: Usage | null = null;
  #responses = 0;
  /** Tier and size of the first response. */
  #firstKind = '';
  /** Responses of another kind than the first, by their kind. */
  readonly #parts = new Map<string, { responses: number; readonly usage: Usage }>();

  constructor(read: (event: JsonObject) => Usage | null) {
    this.#read = read;
  }

  /** Reads the usage of one text message of the provider. Returns true if it counted something. Ignores text that is not JSON. */
  take(message: Uint8Array): boolean {
    const text = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
    // Inside a JSON string the quotes would be escaped. Gemini's field is `usageMetadata`.
    if (!text.includes('"usage')) return false;
    let event: unknown;
    try {
      event = JSON.parse(text.toString('utf8'));
    } catch {
      return false;
    }
    const usage = isObject(event) ? this.#read(event) : null;
    if (usage === null) return false;
    this.#add(usage);
    return true;
  }

  /** Null if no event had counts. `raw` is the sum of the provider's own counts, name by name. */
  total(): Usage | null {
    return this.#total;
  }

  /** Number of events with counts, and the usage of those whose price may differ from that of the first one. */
  responses(): Pick<SessionRecord, 'responses' | 'parts'> {
    if (this.#total === null) return {};
    const parts = [...this.#parts.values()].map(({ responses, usage }) => recordedPart(responses, usage));
    return { responses: this.#responses, ...(parts.length > 0 ? { parts } : {}) };
  }

  #add(usage: Usage): void {
    const { serviceTier } = usage;
    const kind = `${sizeClassOf(usage)} ${serviceTier}`;
    if (this.#total === null) this.#firstKind = kind;
    this.#total ??= { ...emptyUsage(), serviceTier, raw: {} };
    this.#responses++;
    addTo(this.#total, usage);
    if (usage.raw !== null) addCounts(this.#total.raw as JsonObject, usage.raw, rawDepthMax);
    if (kind === this.#firstKind) return;
    const part = this.#parts.get(kind) ?? { responses: 0, usage: { ...emptyUsage(), serviceTier } };
    if (part.responses === 0 && this.#parts.size >= partsMax) return;
    this.#parts.set(kind, part);
    part.responses++;
    addTo(part.usage, usage);
  }
}

function addTo(sum: Usage, usage: Usage): void {
  for (const name of counted) sum[name] += usage[name];
  for (const [unit, amount] of Object.entries(usage.units)) {
    const units: Record<string, number> = { ...sum.units };
    units[unit] = (units[unit] ?? 0) + amount;
    sum.units = units;
  }
}

function addCounts(into: JsonObject, counts: JsonObject, depth: number): void {
  for (const [name, value] of Object.entries(counts)) {
    if (!Object.hasOwn(into, name) && Object.keys(into).length >= rawNamesMax) continue;
    const known = Object.hasOwn(into, name) ? into[name] : undefined;
    const count = statedCount(value);
    const ofModels = [value].flat().filter(namesModel);
    if (!Number.isNaN(count)) set(into, name, (typeof known === 'number' ? known : 0) + count);
    else if (depth <= 1) continue;
    else if (ofModels.length > 0) set(into, name, addByModel(known, ofModels, depth - 1));
    else if (isObject(value)) {
      const inner = isObject(known) ? known : {};
      addCounts(inner, value, depth - 1);
      set(into, name, inner);
    }
  }
}

/** Counts of further models are a list with one element for each, because each model has its own price. */
function addByModel(known: unknown, given: readonly JsonObject[], depth: number): JsonObject[] {
  const list = Array.isArray(known) ? (known as JsonObject[]) : [];
  for (const counts of given) {
    let sum = list.find(({ model }) => model === counts.model);
    if (sum === undefined && list.length >= rawNamesMax) continue;
    if (sum === undefined) {
      sum = { model: counts.model };
      list.push(sum);
    }
    addCounts(sum, counts, depth);
  }
  return list;
}

/** True for counts of a model beside that of the session, such as the model of an image tool. */
function namesModel(counts: unknown): counts is JsonObject {
  return isObject(counts) && isText(counts.model) && counts.model.length <= 255;
}

/** The provider chooses the names, so `__proto__` is treated like any other. */
function set(into: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
}
