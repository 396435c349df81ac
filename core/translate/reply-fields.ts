import type { OperationCall } from '../contract/provider/provider.ts';
import { isText, type JsonObject } from '../contract/values/json/json.ts';
import { newCallId } from '../formats/new-call-id.ts';
import { adaptInReply, dropUnread } from '../formats/reply-notes.ts';

/**
 * Top-level fields of a chat completion or chunk that replies of other formats carry in another form, or that only OpenAI has.
 */
const readFields: ReadonlySet<string> = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage', 'service_tier', 'system_fingerprint'],
  // Padding of OpenAI and Mistral that hides the length of events.
  ...['obfuscation', 'p'],
]);

/** Returns the top-level fields of a chat completion or chunk that a reply of another format preserves. */
export function passedFields(completion: JsonObject): JsonObject {
  const passed: JsonObject = {};
  keepFields(passed, completion);
  return passed;
}

/** Adds the fields of one more chunk, except the ones in `known`. */
export function keepFields(passed: JsonObject, chunk: JsonObject, known: JsonObject = {}): void {
  for (const name in chunk) if (!readFields.has(name) && !(name in known)) passed[name] = chunk[name];
}

/** Returns the provider's id with the prefix of the reply's format: `msg_a1` for `chatcmpl-a1`. A new id if there is none. */
export function idInFormat(prefix: string, id: unknown, call: OperationCall): string {
  if (typeof id !== 'string' || id === '') return call.newId(prefix);
  return id.startsWith(prefix) ? id : prefix + id.replace(/^(chatcmpl|cmpl|resp|msg|gen)[-_]/, '');
}

/** Returns the id of a tool call. A new id if the provider sent none, because results refer to calls by their ids. */
export function callIdOf({ id }: JsonObject, call: OperationCall): string {
  return isText(id) ? id : newCallId(call);
}

/** Fields of a choice that Messages and Responses replies carry in another form. */
const choiceFields: ReadonlySet<string> = new Set([
  ...['index', 'message', 'delta', 'finish_reason', 'native_finish_reason', 'stop_reason', 'stop_sequence', 'logprobs'],
  ...['groundingMetadata', 'citationMetadata', 'avgLogprobs'],
]);

/** Reports the fields of a choice beside its message. Sources in Gemini's fields are annotations of the message already. */
export function reportChoice(choice: JsonObject, call: OperationCall): void {
  dropUnread(choice, choiceFields, call);
  for (const name of ['groundingMetadata', 'citationMetadata']) if (name in choice) adaptInReply(call, name);
}
