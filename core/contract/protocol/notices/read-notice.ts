import * as v from 'valibot';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Returns the notice in a message of a `NoticeChannel`: JSON bytes, or the value itself over IPC. Null if it is invalid or longer than
 * `bytesMax`. Never throws.
 */
export function readNotice<Notice>(schema: v.GenericSchema<unknown, Notice>, message: unknown, bytesMax: number): Notice | null {
  let value = message;
  if (message instanceof Uint8Array) {
    if (message.length > bytesMax) return null;
    try {
      value = JSON.parse(decoder.decode(message));
    } catch {
      return null;
    }
  }
  const checked = v.safeParse(schema, value);
  return checked.success ? checked.output : null;
}
