import { sessionErrorEvent } from '../contract/plugin/sessions/error-event.ts';
import type { SessionDecision, SessionMessage } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { parseObject } from '../contract/values/json/json.ts';
import { hasTooManyValues } from '../contract/values/json/line-limits.ts';
import { modelsIn } from '../contract/values/models/nested-models.ts';
import { unmarkedTextOf } from '../contract/values/text/utf8.ts';

/**
 * Checks the models that a message of the client names, such as that of a transcription in `session.update`. Events are written anew, so that
 * the provider reads the checked values. An event with another model, or a text that is not a JSON object, is not forwarded; the client gets
 * an error event. `allowModel` throws `model_not_allowed`. Returns undefined for audio and for messages of the provider.
 */
export function checkModels(message: SessionMessage, allowModel: (model: string) => void): SessionDecision | undefined {
  const { data, isBinary, isFromClient } = message;
  if (!isFromClient || (isBinary && !mayBeEvent(data))) return undefined;
  const text = unmarkedTextOf(data) ?? '';
  // Sessions end with such a text, but not with such a binary message.
  const isExcessive = hasTooManyValues(text);
  const event = isExcessive ? null : parseObject(text);
  // Audio may begin with the same bytes.
  if (event === null && isBinary && !isExcessive) return undefined;
  try {
    if (event === null) throw new GatewayError('bad_request', { message: unreadable });
    for (const model of modelsIn(event)) allowModel(model);
  } catch (thrown) {
    const { code, message: text, param } = toGatewayError(thrown);
    const error = { type: 'invalid_request_error', code, message: text, param: param ?? null };
    return { forward: [], toClient: sessionErrorEvent(`event_${code}`, error, event) };
  }
  return { forward: [{ data: Buffer.from(JSON.stringify(event)), isBinary }] };
}

const unreadable = 'The models of this integration are restricted, and this message is not a JSON object';

/** True for bytes that begin as JSON does, after white space or a byte order mark: some providers also accept events as binary messages. */
function mayBeEvent(data: Uint8Array): boolean {
  let at = 0;
  while (skipped.has(data[at] as number)) at++;
  return data[at] === openBrace;
}

const openBrace = 123;
const skipped: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);
