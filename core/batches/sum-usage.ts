import { type BatchUsagePart, sizeClassOf } from '../contract/provider/batch-usage.ts';
import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { statedCount, type Usage } from '../contract/values/models/usage.ts';

/** Providers choose the names, so their number is bounded. Usage beyond it has no name, and so no price. */
const partsMax = 200;

/** Adds up the usage of many requests. Usage with a different price is summed separately. */
export class UsageSums {
  readonly #parts = new Map<string, BatchUsagePart>();
  readonly #operation: string | null;

  constructor(operation: string | null) {
    this.#operation = operation;
  }

  get parts(): readonly BatchUsagePart[] {
    return [...this.#parts.values()];
  }

  add(given: string, usage: Usage): void {
    const sizeClass = sizeClassOf(usage);
    // Every request of a batch has tier `batch`, so the tier does not separate the usage.
    const tier = usage.serviceTier === 'batch' ? null : usage.serviceTier;
    const keyOf = (model: string): string => JSON.stringify([model, tier, sizeClass]);
    const model = this.#parts.size < partsMax || this.#parts.has(keyOf(given)) ? given : '';
    const empty = { model, operation: this.#operation, serviceTier: tier, sizeClass, requests: 0, ...nothing };
    this.#parts.set(keyOf(model), sum(this.#parts.get(keyOf(model)) ?? empty, usage));
  }
}

const counted = [
  ...(['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens', 'reasoningTokens'] as const),
  ...(['audioInputTokens', 'audioOutputTokens', 'imageInputTokens', 'imageOutputTokens'] as const),
];
type Counts = Record<(typeof counted)[number], number>;
const nothing = { ...(Object.fromEntries(counted.map((name) => [name, 0])) as Counts), units: {}, raw: null };

function sum(part: BatchUsagePart, usage: Usage): BatchUsagePart {
  const next: BatchUsagePart = { ...part, requests: part.requests + 1, units: { ...part.units } };
  for (const name of counted) next[name] += usage[name];
  for (const [unit, amount] of Object.entries(usage.units)) next.units[unit] = (next.units[unit] ?? 0) + amount;
  next.raw = usage.raw ? addNumbers(part.raw ?? {}, usage.raw, 0) : part.raw;
  return next;
}

const depthMax = 4;
const namesMax = 50;

/** Maximum names of all requests. Each request copies them, so without a limit other names in each would take quadratic time. */
const namesOfAllMax = 200;

/** Adds numbers of the same name, down to the depth of usage objects. */
function addNumbers(one: JsonObject, other: JsonObject, depth: number): JsonObject {
  const all: JsonObject = { ...one };
  let names = Object.keys(all).length;
  for (const [name, value] of Object.entries(other).slice(0, namesMax)) {
    const isNew = !Object.hasOwn(all, name);
    if (isNew && names >= namesOfAllMax) continue;
    const before = isNew ? undefined : all[name];
    const count = statedCount(value);
    if (!Number.isNaN(count)) all[name] = (typeof before === 'number' ? before : 0) + count;
    else if (isObject(value) && depth < depthMax) all[name] = addNumbers(isObject(before) ? before : {}, value, depth + 1);
    if (isNew && Object.hasOwn(all, name)) names++;
  }
  return all;
}
