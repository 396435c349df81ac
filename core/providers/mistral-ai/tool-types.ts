import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { withChoices } from '../../formats/openai/with-choices.ts';

/**
 * Returns a reply or chunk whose tool calls have a `type`, and arguments as JSON text. Mistral leaves the type out, and OpenAI's
 * clients do not run such a call or reject the stream. In a stream, the first piece of a call has it. Mistral's definition
 * allows arguments as an object. Returns the same object if nothing changes.
 */
export function withToolTypes(reply: JsonObject): JsonObject {
  return withChoices(reply, typedChoice);
}

function typedChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const member = isObject(choice.message) ? 'message' : 'delta';
  const holder = choice[member];
  if (!isObject(holder) || !Array.isArray(holder.tool_calls) || !holder.tool_calls.some(isOther)) return choice;
  const calls = holder.tool_calls.map((call: unknown) => withText(lacksType(call) ? { ...call, type: 'function' } : call));
  return { ...choice, [member]: { ...holder, tool_calls: calls } };
}

function isOther(call: unknown): boolean {
  return lacksType(call) || hasObject(call);
}

function withText(call: unknown): unknown {
  if (!hasObject(call)) return call;
  return { ...call, function: { ...call.function, arguments: JSON.stringify(call.function.arguments) } };
}

function hasObject(call: unknown): call is JsonObject & { function: JsonObject } {
  return isObject(call) && isObject(call.function) && isObject(call.function.arguments);
}

function lacksType(call: unknown): call is JsonObject {
  return isObject(call) && typeof call.id === 'string' && call.id !== '' && (call.type ?? null) === null;
}
