import { crc32 } from 'node:zlib';
import type { StreamEvent } from '../../../../core/contract/provider/stream-event.ts';

/** One frame of an AWS event stream with text headers. */
export function frame(headers: Readonly<Record<string, string>>, payload: string | Uint8Array): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
      const lengths = Buffer.from([7, valueBytes.length >> 8, valueBytes.length & 255]);
      return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, lengths, valueBytes]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  const start = Buffer.concat([prelude, checksum(prelude), head, body]);
  return Buffer.concat([start, checksum(start)]);
}

/** Frames of Converse events. Names that end in `Exception` become exceptions. */
export function converseFrames(events: readonly StreamEvent[]): Buffer {
  return Buffer.concat(
    events.map(({ event, data }) => {
      const kind = event?.endsWith('Exception') ? 'exception' : 'event';
      const name = { [`:${kind}-type`]: String(event), ':content-type': 'application/json', ':message-type': kind };
      return frame(name, JSON.stringify(data));
    }),
  );
}

/** Events of the model's own format as InvokeModelWithResponseStream sends them: base64 inside `chunk` frames. */
export function chunkFrames(events: readonly StreamEvent[]): Buffer {
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' };
  const frames = events.map(({ data }) => {
    const bytes = Buffer.from(JSON.stringify(data)).toString('base64');
    return frame(headers, JSON.stringify({ bytes, p: 'abcdefghij' }));
  });
  return Buffer.concat(frames);
}

function checksum(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(bytes));
  return sum;
}
