import { AdminError } from '../../http/errors.ts';

/**
 * Maximum number of fields of protobuf, or of objects, lists and further members of JSON, that a body has. Reading them takes a second. A
 * batch of 8,192 spans with 20 attributes has 700,000.
 */
export const valuesMax = 1_000_000;

/** Maximum number of fields of one span or log record in protobuf, which are read at once. 128 events with 128 attributes have 66,000. */
export const itemFieldsMax = 100_000;

/** Maximum number of spans or log records in a body, with the resources and scopes around them. A batch of the Collector has 8,192. */
export const itemsMax = 50_000;

/** Returns the error of a body that exceeds a limit. `what` continues "body: ". */
export function tooLarge(what: string): AdminError {
  const text = `body: ${what}. Send smaller batches`;
  return new AdminError('AB01', text, [text], 413);
}
