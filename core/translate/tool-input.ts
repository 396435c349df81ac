import { isObject, type JsonObject, parseObject } from '../contract/values/json/json.ts';

/**
 * Returns the input of a tool call from its arguments. A model wrote them: text that is not a JSON object becomes `{}`, so that the
 * block stays valid.
 */
export function toolInput(args: unknown): JsonObject {
  return isObject(args) ? args : (parseObject(String(args)) ?? {});
}
