import { GatewayError } from '../../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../../contract/values/json/json.ts';
import { hasTooManyValues, tooManyValues } from '../../contract/values/json/line-limits.ts';

/**
 * Returns the JSON object in a message of a server; null for another text. Throws GatewayError `upstream_invalid` for a message with so many
 * values that parsing it would block the process.
 */
export function parseMessage(text: string): JsonObject | null {
  if (hasTooManyValues(text))
    throw new GatewayError('upstream_invalid', { message: `The MCP server sent a message that has ${tooManyValues}` });
  return parseObject(text);
}
