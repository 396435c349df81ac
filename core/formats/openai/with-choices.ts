import type { JsonObject } from '../../contract/values/json/json.ts';

/** Returns a reply or chunk with its choices changed by `change`. Returns the same object if none changes. */
export function withChoices(reply: JsonObject, change: (choice: unknown) => unknown): JsonObject {
  const { choices } = reply;
  if (!Array.isArray(choices)) return reply;
  const changed = choices.map(change);
  return changed.some((choice, index) => choice !== choices[index]) ? { ...reply, choices: changed } : reply;
}
