import * as v from 'valibot';
import { type ChangeNotice, changeNotice } from '../contract/protocol/documents.ts';

const noticeBytesMax = 4096;
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Returns the notice in a bus message (JSON bytes, or the value itself over IPC), or null if it is invalid. Never throws. */
export function readNotice(input: unknown): ChangeNotice | null {
  let value = input;
  if (input instanceof Uint8Array) {
    if (input.length > noticeBytesMax) return null;
    try {
      value = JSON.parse(decoder.decode(input));
    } catch {
      return null;
    }
  }
  const checked = v.safeParse(changeNotice, value);
  return checked.success ? checked.output : null;
}
