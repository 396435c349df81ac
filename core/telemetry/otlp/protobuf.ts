import protobuf from 'protobufjs/light.js';
import type { Signal } from './messages.ts';
import { schema } from './protobuf-schema.ts';

const root = protobuf.Root.fromJSON(schema);
const requestTypes: Readonly<Record<Signal, protobuf.Type>> = {
  traces: root.lookupType('TracesRequest'),
  metrics: root.lookupType('MetricsRequest'),
  logs: root.lookupType('LogsRequest'),
};
const defaults = { longs: String, bytes: String, enums: Number } as const;
const responseType = root.lookupType('Response');

/** Encodes a message in OTLP's JSON form as protobuf. */
export function encodeProtobuf(signal: Signal, message: object): Uint8Array {
  return requestTypes[signal].encode(withBinaryIds(message) as Record<string, unknown>).finish();
}

/** Returns the number of items that the collector rejected and its reason. Throws Error if the bytes are no such message. */
export function decodeProtobufResponse(bytes: Uint8Array): object {
  return responseType.toObject(responseType.decode(bytes), { longs: String });
}

/** Returns the JSON form of a message. Throws Error if the bytes are no such message. */
export function decodeProtobufRequest(signal: Signal, bytes: Uint8Array): unknown {
  const type = requestTypes[signal];
  return withHexadecimalIds(type.toObject(type.decode(bytes), defaults));
}

/** Encodes the reply to an export. It is empty if nothing was rejected. */
export function encodeProtobufResponse(rejected: number, errorMessage: string): Uint8Array<ArrayBuffer> {
  const message = rejected === 0 ? {} : { partialSuccess: { rejected, errorMessage } };
  return new Uint8Array(responseType.encode(message).finish());
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

/** The library writes bytes as base64. */
function withHexadecimalIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withHexadecimalIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if (key === 'attributes') return [key, part];
      return [key, idFields.has(key) ? Buffer.from(String(part), 'base64').toString('hex') : withHexadecimalIds(part)];
    }),
  );
}
