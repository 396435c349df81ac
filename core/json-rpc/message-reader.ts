import { isPromise, type Maybe } from '../contract/values/json/json.ts';

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
  const changed = data === null ? null : reader.read(data);
  return isPromise(changed) ? changed.then((text) => withData(frame, text)) : withData(frame, changed);
}

/** Comments, and the fields of event streams with or without a value. */
const knownLine = /^(?:$|:|(?:data|event|id|retry)(?::|$))/;

/** Returns the frame without lines that are no field: clients that remove a mark before the first line would read a field there. */
export function knownLines(frame: string): string {
  const lines = frame.split(lineEnd);
  if (lines.every((line) => knownLine.test(line))) return frame;
  return lines.filter((line) => knownLine.test(line)).join('\n');
}

/** Returns the frame with this data: null for its own, an empty text for no frame. */
export function withData(frame: string, changed: string | null): string {
  if (changed === null || changed === '') return changed ?? frame;
  const others = frame.split(lineEnd).filter((line) => line !== '' && line !== 'data' && !line.startsWith('data:'));
  return `${[...others, `data: ${changed}`].join('\n')}\n\n`;
}

const lineEnd = /\r\n|\n|\r/;

/** Returns the data of a frame of an event stream; null if it has none. */
export function dataOf(frame: string): string | null {
  const data = frame.split(lineEnd).filter((line) => line === 'data' || line.startsWith('data:'));
  return data.length === 0 ? null : data.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n');
}
