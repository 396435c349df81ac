import type { WireFormat } from '../../contract/plugin/requests/endpoint.ts';
import { errorTable, type GatewayError } from '../../contract/values/errors/errors.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { eventText, typedEvent } from '../../contract/values/text/event-text.ts';

/**
 * Returns the last event of a stream that could not be completed, in the format of its route. Empty for bytes that are not
 * shaped, where only a cut connection can report the error. `sequence` is the number of events before it, which the format of
 * responses requires.
 */
export function streamError(error: GatewayError, format: WireFormat, sequence = 0): string {
  const type = errorTable[error.code].type;
  switch (format) {
    case 'chat':
      return eventText({ error: { message: error.message, type, param: error.param, code: error.code } });
    case 'messages':
      return typedEvent({
        type: 'error',
        error: { type: messagesErrorType(error.status), message: error.message, code: error.code },
      });
    case 'responses':
      return responsesError({ type, code: error.code, message: error.message, param: error.param }, sequence);
    case 'plain':
      return '';
  }
}

/**
 * OpenAI documents the fields in the event itself and sends them in its member `error` (openai/openai-dotnet#881). OpenAI's SDKs throw if
 * there is an `error`. Without it they return the event like any other, and clients take the text before it for the whole reply.
 */
function responsesError(error: JsonObject, sequence: number): string {
  const { type: _type, ...fields } = error;
  return typedEvent({ type: 'error', sequence_number: sequence, ...fields, error });
}
