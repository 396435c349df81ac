import { GatewayError } from '../../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';

/** Returns a message of a server; null for a text that is none. Throws `upstream_invalid` if it has too many values to be parsed. */
export function parsedMessage(json: string): JsonObject | null {
  if (!hasTooManyValues(json)) return parseObject(json);
  throw new GatewayError('upstream_invalid', { message: `The MCP server sent a message that has ${tooManyValues}` });
}

/** Returns the JSON of a message of a server, or of a part of one. Throws `upstream_invalid` if it is nested too deeply to be written: some thousand levels. */
export function messageText(message: object): string {
  try {
    return JSON.stringify(message);
  } catch {
    throw new GatewayError('upstream_invalid', { message: 'The MCP server sent a message that is nested too deeply' });
  }
}
