import type { WireFormat } from '../../contract/plugin/requests/endpoint.ts';
import { errorTable, type GatewayError } from '../../contract/values/errors/errors.ts';
import { messagesErrorType } from '../../contract/values/errors/messages-errors.ts';
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
      return typedEvent({
        ...{ type: 'error', sequence_number: sequence, code: error.code, message: error.message, param: error.param },
      });
    case 'plain':
      return '';
  }
}
