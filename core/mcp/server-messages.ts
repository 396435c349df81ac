import type { McpCall } from '../contract/plugin/mcp-call.ts';
import { isObject, type JsonObject, parseObject } from '../contract/values/json.ts';
import { isFiltered, withoutDisabled } from './capabilities.ts';
import type { ServerSettings } from './server-settings.ts';

/** Messages up to this length are read for the record. Longer ones only if their content must be checked. */
const recordedLength = 64 * 1024;

/** Reads the messages of a server that reply to one request. */
export interface MessageReader {
  /** True if every message must be read before it may pass. */
  readonly mustRead: boolean;
  /** Returns the text to send instead of the JSON of a message. Returns null to send the message unchanged. */
  read(json: string): string | null;
}

export function messageReader(server: ServerSettings, call: McpCall): MessageReader {
  const mustRead = isFiltered(server, call.method);
  return {
    mustRead,
    read(json) {
      if (!mustRead && (call.id === null || json.length > recordedLength)) return null;
      const message = parseObject(json);
      if (message === null || message.id !== call.id || message.method !== undefined) return null;
      note(call, message);
      if (!mustRead || !isObject(message.result)) return null;
      const result = withoutDisabled(server, call.method ?? '', message.result);
      return result === message.result ? null : JSON.stringify({ ...message, result });
    },
  };
}

function note(call: McpCall, { error, result }: JsonObject): void {
  if (isObject(error) && typeof error.code === 'number') call.errorCode = error.code;
  if (isObject(result) && result.isError === true) call.isToolError = true;
}

/** Returns the frame of an event stream with its data changed by `reader`; the same text if nothing changes. */
export function readFrame(reader: MessageReader, frame: string): string {
  const data = dataOf(frame);
  const changed = data === null ? null : reader.read(data);
  if (changed === null) return frame;
  const others = frame.split(lineEnd).filter((line) => line !== '' && !line.startsWith('data:'));
  return `${[...others, `data: ${changed}`].join('\n')}\n\n`;
}

const lineEnd = /\r\n|\n|\r/;

/** Returns the data of a frame of an event stream; null if it has none. */
export function dataOf(frame: string): string | null {
  const data = frame.split(lineEnd).filter((line) => line.startsWith('data:'));
  return data.length === 0 ? null : data.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n');
}
