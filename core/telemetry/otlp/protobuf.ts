import { createRequire } from 'node:module';
import type protobuf from 'protobufjs/light.js';
import type { Signal } from './messages.ts';
import { schema } from './protobuf-schema.ts';

const defaults = { longs: String, bytes: String, enums: Number } as const;
let loaded: Readonly<Record<Signal | 'response', protobuf.Type>> | null = null;

/** The library is loaded with the first message: it takes 20 ms of CPU time, and most processes send and receive none. */
function types(): NonNullable<typeof loaded> {
  if (loaded === null) {
    const library = createRequire(import.meta.url)('protobufjs/light.js') as typeof protobuf;
    const root = library.Root.fromJSON(schema);
    loaded = {
      traces: root.lookupType('TracesRequest'),
      metrics: root.lookupType('MetricsRequest'),
      logs: root.lookupType('LogsRequest'),
      response: root.lookupType('Response'),
    };
  }
  return loaded;
}

/** Encodes a message in OTLP's JSON form as protobuf. */
export function encodeProtobuf(signal: Signal, message: object): Uint8Array {
  return types()
    [signal].encode(withBinaryIds(message) as Record<string, unknown>)
    .finish();
}

/** Returns the number of items that the collector rejected and its reason. Throws Error if the bytes are no such message. */
export function decodeProtobufResponse(bytes: Uint8Array): object {
  const type = types().response;
  return type.toObject(type.decode(bytes), { longs: String });
}

/** Returns the JSON form of a message. Throws Error if the bytes are no such message. */
export function decodeProtobufRequest(signal: Signal, bytes: Uint8Array): unknown {
  const type = types()[signal];
  return withHexadecimalIds(type.toObject(type.decode(bytes), defaults));
}

/** Encodes the reply to an export. It is empty if nothing was rejected. */
export function encodeProtobufResponse(rejected: number, errorMessage: string): Uint8Array<ArrayBuffer> {
  const message = rejected === 0 ? {} : { partialSuccess: { rejected, errorMessage } };
  return new Uint8Array(types().response.encode(message).finish());
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
