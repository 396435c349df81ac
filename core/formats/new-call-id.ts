import type { OperationCall } from '../contract/provider/provider.ts';

/**
 * Returns an id for a tool call to which its provider gave none. It has 37 characters: OpenAI and Azure OpenAI reject a conversation with ids of
 * over 40, also if another provider made the call.
 */
export function newCallId(call: OperationCall): string {
  return call.newId('call_').replaceAll('-', '');
}
