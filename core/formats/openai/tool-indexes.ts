import { isObject, type JsonObject } from '../../contract/values/json/json.ts';

/** The calls of one choice, without lists: a provider may begin with any index. */
interface Calls {
  /** Indexes by the id of the call. */
  readonly indexes: Map<string, number>;
  /** Indexes of calls whose id is known. */
  readonly identified: Set<number>;
  /** The index of the last call that came with each index of the provider. */
  readonly last: Map<number, number>;
  /** One more than the largest index. */
  next: number;
}

/**
 * Corrects the `index` of tool calls in a stream's chunks. Some servers leave it out (Mistral since January 2026), and OpenAI's
 * clients reject a call without one. Others give all calls the same. A call with a new id is the next call if it has no index or a new
 * name. A piece without an id belongs to the last call. Returns the same chunk if no index changes.
 */
export function withToolIndexes(): (chunk: JsonObject) => JsonObject {
  const calls = new Map<unknown, Calls>();
  const completed = (choice: unknown): unknown => {
    const toolCalls = toolCallsOf(choice);
    if (!isObject(choice) || !isObject(choice.delta) || toolCalls === null) return choice;
    const known = calls.get(choice.index) ?? { indexes: new Map(), identified: new Set(), last: new Map(), next: 0 };
    calls.set(choice.index, known);
    const tool_calls = toolCalls.map((call: unknown) => {
      if (!isObject(call)) return call;
      const index = typeof call.index === 'number' ? indexOfGiven(known, call, call.index) : indexOfId(known, call.id);
      return call.index === index ? call : { ...call, index };
    });
    if (tool_calls.every((call, at) => call === toolCalls[at])) return choice;
    return { ...choice, delta: { ...choice.delta, tool_calls } };
  };
  return (chunk) => {
    const { choices } = chunk;
    if (!Array.isArray(choices) || !choices.some(hasToolCalls)) return chunk;
    const changed = choices.map(completed);
    return changed.every((choice, at) => choice === choices[at]) ? chunk : { ...chunk, choices: changed };
  };
}

function indexOfId(known: Calls, id: unknown): number {
  if (!isText(id)) return Math.max(0, known.next - 1);
  const index = known.indexes.get(id) ?? known.next;
  note(known, id, index);
  return index;
}

/** Servers that create a new id for each piece of one call send its name once. */
function indexOfGiven(known: Calls, { id, function: fn }: JsonObject, given: number): number {
  const before = known.last.get(given) ?? given;
  const isNext = known.identified.has(before) && isText(id) && !known.indexes.has(id) && isObject(fn) && isText(fn.name);
  const index = isNext ? known.next : before;
  known.last.set(given, index);
  note(known, id, index);
  return index;
}

function note(known: Calls, id: unknown, index: number): void {
  known.next = Math.max(known.next, index + 1);
  if (!isText(id)) return;
  if (!known.indexes.has(id)) known.indexes.set(id, index);
  known.identified.add(index);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function hasToolCalls(choice: unknown): boolean {
  return toolCallsOf(choice) !== null;
}

function toolCallsOf(choice: unknown): unknown[] | null {
  const calls = isObject(choice) && isObject(choice.delta) ? choice.delta.tool_calls : null;
  return Array.isArray(calls) && calls.length > 0 ? calls : null;
}
