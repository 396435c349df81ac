import type { StreamReader } from '../../contract/provider/stream-event.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import type { Usage } from '../../contract/values/models/usage.ts';
import { usageOfReply } from './usage.ts';

/** Follows a chat stream. `message-end` holds its end, its counts, and errors of the generation. */
export function chatStreamReader(): StreamReader {
  let usage: Usage | null = null;
  let complete = false;
  let error: GatewayError | null = null;
  return {
    push({ data }) {
      if (!isObject(data) || data.type !== 'message-end' || !isObject(data.delta)) return;
      usage = usageOfReply(data.delta) ?? usage;
      error = endError(data.delta);
      complete = error === null;
    },
    usage: () => usage,
    complete: () => complete,
    error: () => error,
  };
}

/** Returns the error that the end of a stream reports; null without one. */
export function endError(delta: JsonObject): GatewayError | null {
  if (typeof delta.error !== 'string' || delta.error === '') return null;
  return new GatewayError('upstream_status', {
    message: `cohere error: ${delta.error}`,
    status: delta.finish_reason === 'TIMEOUT' ? 504 : 500,
    detail: String(delta.finish_reason ?? ''),
    reported: { message: delta.error },
  });
}
