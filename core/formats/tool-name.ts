import { isObject } from '../contract/values/json/json.ts';

/** Returns the name of a tool of a chat completion, in either form of it; an empty text if it has none. */
export function toolNameOf(tool: unknown): string {
  if (!isObject(tool)) return '';
  return String(isObject(tool.function) ? tool.function.name : tool.name);
}
