import { GatewayError } from '../../contract/values/errors/errors.ts';

/** Returns the JSON of a message of a server, or of a part of one. Throws `upstream_invalid` if it is nested too deeply to be written: some thousand levels. */
export function messageText(message: object): string {
  try {
    return JSON.stringify(message);
  } catch {
    throw new GatewayError('upstream_invalid', { message: 'The MCP server sent a message that is nested too deeply' });
  }
}
