import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { dataOf, linesOf, withData } from '../contract/values/text/event-text.ts';

/** Reads the messages of a server or an agent that reply to one request. */
export interface MessageReader {
  /**
   * Returns the text to send instead of the JSON of a message: null for the message itself, an empty text for none. Throws GatewayError
   * `upstream_invalid` for text that must be checked and is no message.
   */
  read(json: string): Maybe<string | null>;
  /** Present if events of a stream wait until the whole stream was checked. */
  readonly hold?: StreamHold;
}

export interface StreamHold {
  /** True from the first event on that has to wait. All later events wait too. */
  readonly isHolding: boolean;
  /** Returns the text of each waiting event, as `read` would return it. */
  release(): Promise<(string | null)[]>;
}

/**
 * Returns the frame of an event stream with its data changed by `reader`: the same text if nothing changes, an empty text if the frame is
 * dropped.
 */
export function readFrame(reader: MessageReader, frame: string): Maybe<string> {
  const data = dataOf(frame);
  // MCP servers begin streams with an id and empty data, behind which clients can continue.
  const changed = data === null || data === '' ? null : reader.read(data);
  return isPromise(changed) ? changed.then((text) => changedFrame(frame, text)) : changedFrame(frame, changed);
}

/** Comments, and the fields of event streams with or without a value. */
const knownLine = /^(?:$|:|(?:data|event|id|retry)(?::|$))/;

/** Returns the frame without lines that are no field: clients that remove a mark before the first line would read a field there. */
export function knownLines(frame: string): string {
  const lines = linesOf(frame);
  if (lines.every((line) => knownLine.test(line))) return frame;
  return lines.filter((line) => knownLine.test(line)).join('\n');
}

/** Returns the frame with this data: null for its own, an empty text for no frame. */
export function changedFrame(frame: string, changed: string | null): string {
  return changed === null || changed === '' ? (changed ?? frame) : withData(frame, changed);
}
