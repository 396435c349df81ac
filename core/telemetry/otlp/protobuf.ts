import protobuf from 'protobufjs/light.js';
import type { Signal } from './messages.ts';
import { schema } from './protobuf-schema.ts';

const root = protobuf.Root.fromJSON(schema);
const requestTypes: Readonly<Record<Signal, protobuf.Type>> = {
  traces: root.lookupType('TracesRequest'),
  metrics: root.lookupType('MetricsRequest'),
  logs: root.lookupType('LogsRequest'),
};
const responseType = root.lookupType('Response');

/** Encodes a message in OTLP's JSON form as protobuf. */
export function encodeProtobuf(signal: Signal, message: object): Uint8Array {
  return requestTypes[signal].encode(withBinaryIds(message) as Record<string, unknown>).finish();
}

/** Returns the number of items that the collector rejected and its reason. Throws Error if the bytes are no such message. */
export function decodeProtobufResponse(bytes: Uint8Array): object {
  return responseType.toObject(responseType.decode(bytes), { longs: String });
}

const idFields: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);

/** Ids are hexadecimal in the JSON form and bytes in the other. */
function withBinaryIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBinaryIds);
  if (typeof value !== 'object' || value === null) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, part] of Object.entries(value)) {
    // Attributes hold no ids, and most of a message is attributes.
    if (key === 'attributes') copy[key] = part;
    else copy[key] = idFields.has(key) ? Buffer.from(part as string, 'hex') : withBinaryIds(part);
  }
  return copy;
}
