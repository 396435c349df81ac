import { type JsonObject, parseObject } from '../contract/values/json/json.ts';
import { EventFrames } from '../contract/values/text/event-frames.ts';
import { dataOf } from '../contract/values/text/event-text.ts';

/** Returns a function that takes the chunks of an event stream and calls back with each event. Comments are left out. */
export function modelEvents(onEvent: (event: JsonObject) => void): (chunk: Uint8Array) => void {
  const frames = new EventFrames();
  return (chunk) => {
    for (const frame of frames.push(chunk)) {
      const data = dataOf(frame);
      const event = data === null ? null : parseObject(data);
      if (event !== null) onEvent(event);
    }
  };
}
