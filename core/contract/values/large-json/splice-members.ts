import { Buffer } from 'node:buffer';
import type { JsonObject } from '../json/json.ts';
import type { JsonLayout } from '../json/json-layout.ts';
import { roomAfter } from './encode-steps.ts';
import { bufferOf } from './json-steps.ts';

/** Approximate characters of a value that is written. An object with a longer new value is written in steps. */
const writtenMax = 4096;
/** Longest name, in bytes of JSON. A name of 30 MB took 115 to 250 ms to read. */
const nameBytesMax = 1024;
/** Longest body that is copied at once. Copying 30 MB took up to 44 ms, and 5 MB up to 6 ms. */
const splicedBytesMax = 4 * 1024 * 1024;

/**
 * Returns the JSON of `object`, in which members keep their bytes if their value is the one of `layout.parsed`: writing a long conversation takes far
 * longer than copying it beside another model. No value may have been changed in place. Returns null if a name occurs twice, because a provider
 * may read the other value, if a name or a new value is long, or for bodies above 4 MiB.
 */
export function spliceMembers(layout: JsonLayout, object: JsonObject): Uint8Array | null {
  const { parsed, ranges } = layout;
  if (layout.bytes.length > splicedBytesMax) return null;
  const buffer = bufferOf(layout.bytes);
  const names = new Set<string>();
  const members: Uint8Array[] = [];
  /** Adjacent members that keep their bytes are copied together, with what is between them. */
  let keptFrom = -1;
  let keptTo = -1;
  const endKept = (): void => {
    if (keptFrom !== -1) members.push(buffer.subarray(keptFrom, keptTo));
    keptFrom = -1;
  };
  for (let i = 0; i < ranges.length; i += 3) {
    const from = ranges[i] as number;
    const valueFrom = ranges[i + 1] as number;
    if (valueFrom - from > nameBytesMax) return null;
    const name = nameIn(buffer, from, valueFrom);
    if (names.has(name)) return null;
    names.add(name);
    if (Object.hasOwn(object, name) && object[name] === parsed[name]) {
      if (keptFrom === -1) keptFrom = from;
      keptTo = ranges[i + 2] as number;
    } else endKept();
  }
  endKept();
  for (const [name, value] of Object.entries(object)) {
    if (names.has(name) && value === parsed[name]) continue;
    if (roomAfter(value, writtenMax) < 0) return null;
    const json = JSON.stringify(value);
    if (json !== undefined) members.push(Buffer.from(`${JSON.stringify(name)}:${json}`));
  }
  return Buffer.concat([opening, ...members.flatMap((member, i) => (i === 0 ? [member] : [comma, member])), closing]);
}

/** The name that begins at `from`, before the colon at the end of its bytes. */
function nameIn(buffer: Buffer, from: number, valueFrom: number): string {
  return JSON.parse(buffer.toString('utf8', from, valueFrom - 1)) as string;
}

const opening = Buffer.from('{');
const comma = Buffer.from(',');
const closing = Buffer.from('}');
