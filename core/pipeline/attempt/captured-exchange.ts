import { CapturedBytes, type CapturedExchange } from '../../contract/plugin/content-capture.ts';
import type { RequestContext } from '../../contract/plugin/context.ts';
import type { Outgoing } from './outgoing-call.ts';

/** Returns the call as logs show it, with references to its bytes. Null if only the bodies of errors are stored. */
export function capturedExchange(
  { content, params, bodyChanged }: RequestContext,
  { call, operationCall }: Outgoing,
): CapturedExchange | null {
  if (content === null || content.isErrorOnly) return null;
  const { origin, path, method, headers, body } = call;
  const isChanged = operationCall !== null && (operationCall.params !== params || bodyChanged);
  return {
    ...{ url: origin + path, method, headers },
    body: body === null || body instanceof Uint8Array ? body : 'not_held',
    params: isChanged ? operationCall.params : null,
    status: 0,
    response: new CapturedBytes(content.bytesMax),
  };
}
