import { sessionErrorEvent } from '../contract/plugin/sessions/error-event.ts';
import type { SessionDecision, SessionMessage } from '../contract/plugin/sessions/web-socket.ts';
import { GatewayError, toGatewayError } from '../contract/values/errors/errors.ts';
import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { nestedModels } from '../contract/values/models/nested-models.ts';

/**
 * Checks the models that a message of the client names, such as that of a transcription in `session.update`. Events are written anew, so that
 * the provider reads the checked values. An event with another model, or a text that is not a JSON object, is not forwarded; the client gets
 * an error event. `allowModel` throws `model_not_allowed`. Returns undefined for audio and for messages of the provider.
 */
export function checkModels(message: SessionMessage, allowModel: (model: string) => void): SessionDecision | undefined {
  const { data, isBinary, isFromClient } = message;
  if (!isFromClient || (isBinary && data[0] !== openBrace)) return undefined;
  const event = parseObject(data);
  try {
    if (event === null) throw new GatewayError('bad_request', { message: unreadable });
    for (const model of modelsOf(event)) allowModel(model);
  } catch (thrown) {
    const { code, message: text, param } = toGatewayError(thrown);
    const error = { type: 'invalid_request_error', code, message: text, param: param ?? null };
    return { forward: [], toClient: sessionErrorEvent(`event_${code}`, error, event) };
  }
  return { forward: [{ data: Buffer.from(JSON.stringify(event)), isBinary }] };
}

const openBrace = 123;
const unreadable = 'The models of this integration are restricted, and this message is not a JSON object';

function modelsOf(event: JsonObject): string[] {
  const models: string[] = [];
  nestedModels('', event, models);
  return models;
}
