import type { JsonObject } from '../json/json.ts';

/** The wire format of one server-sent event (HTML standard). `event-frames.ts` cuts streams into the frames of events. */

const lineEnd = /\r\n|\n|\r/;

/** Returns the lines of a frame, with the empty lines at its end. */
export function linesOf(frame: string): string[] {
  return frame.split(lineEnd);
}

/** Returns the data of a frame; null if it has none. */
export function dataOf(frame: string): string | null {
  const data = linesOf(frame).filter(isData);
  return data.length === 0 ? null : data.map((line) => line.slice(line[5] === ' ' ? 6 : 5)).join('\n');
}

/** Returns the frame with this data. Its name, its id and its comments stay. */
export function withData(frame: string, data: string): string {
  const others = linesOf(frame).filter((line) => line !== '' && !isData(line));
  return `${[...others, `data: ${data}`].join('\n')}\n\n`;
}

/**
 * Returns true if a line begins with a byte order mark. Clients that decode each line by itself, as the SDKs of OpenAI and Anthropic do, remove the
 * mark and read a field. Other clients ignore such a line.
 */
export function hasMarkedLine(text: string): boolean {
  return text.includes('\ufeff') && /(?:^|[\r\n])\ufeff/.test(text);
}

function isData(line: string): boolean {
  return line === 'data' || line.startsWith('data:');
}

/** Returns one event. JSON contains no line break, so it needs one `data:` line. */
export function eventText(data: JsonObject | string, name: string | null = null): string {
  const text = typeof data === 'string' ? data.replace(/\r\n|\r|\n/g, '\ndata: ') : JSON.stringify(data);
  return name === null ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`;
}

/** Returns one event with its type as its name. Formats without types have no names. */
export function typedEvent(event: JsonObject): string {
  return eventText(event, typeof event.type === 'string' ? event.type : null);
}

/** Returns true for the content type of event streams. */
export function isEventStream(contentType: string | undefined): boolean {
  return contentType !== undefined && /^text\/event-stream\b/i.test(contentType);
}
