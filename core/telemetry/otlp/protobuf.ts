import { createRequire } from 'node:module';
import type protobuf from 'protobufjs/light.js';
import type { Signal } from './messages.ts';
import { schema } from './protobuf-schema.ts';

/** Bytes stay bytes. */
const plain = { longs: String, enums: Number } as const;

interface Loaded extends Readonly<Record<Signal | 'response' | 'failure', protobuf.Type>> {
  /** Returns a reader that throws TooManyFields at more fields. */
  readonly boundedReader: (bytes: Uint8Array, fieldsMax: number) => protobuf.Reader;
}

let loaded: Loaded | null = null;

/** A message has more fields than its reader accepts. */
export class TooManyFields extends Error {}

/** The library is loaded with the first message: it takes 20 ms of CPU time, and most processes send and receive none. */
function types(): Loaded {
  if (loaded === null) {
    const library = createRequire(import.meta.url)('protobufjs/light.js') as typeof protobuf;
    const root = library.Root.fromJSON(schema);
    loaded = {
      traces: root.lookupType('TracesRequest'),
      metrics: root.lookupType('MetricsRequest'),
      logs: root.lookupType('LogsRequest'),
      response: root.lookupType('Response'),
      failure: root.lookupType('Failure'),
      boundedReader: boundedReaderOf(library),
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

/**
 * Returns the JSON form of a message of traces or logs. Throws TooManyFields, and another Error if the bytes are no such message. Two bytes
 * are enough for a field that becomes an object, so the number of fields determines the time and memory, not that of bytes.
 */
export function decodeProtobufRequest(signal: 'traces' | 'logs', bytes: Uint8Array, fieldsMax: number): object {
  const { [signal]: type, boundedReader } = types();
  const message = type.toObject(type.decode(boundedReader(bytes, fieldsMax)), plain);
  setHexadecimalIds(message, itemLists[signal]);
  return message;
}

function boundedReaderOf({ BufferReader }: typeof protobuf): Loaded['boundedReader'] {
  // The library reads each field of a message that it knows with this method, and checks the class of readers.
  class BoundedReader extends BufferReader {
    #left: number;

    constructor(bytes: Uint8Array, fieldsMax: number) {
      super(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      this.#left = fieldsMax;
    }

    override tag(): number {
      if (--this.#left < 0) throw new TooManyFields();
      return super.tag();
    }
  }
  return (bytes, fieldsMax) => new BoundedReader(bytes, fieldsMax);
}

/** Encodes the reply to an export. It is empty if nothing was rejected. */
export function encodeProtobufResponse(rejected: number, errorMessage: string): Uint8Array<ArrayBuffer> {
  const message = rejected === 0 ? {} : { partialSuccess: { rejected, errorMessage } };
  return new Uint8Array(types().response.encode(message).finish());
}

/** Encodes the body of an error. */
export function encodeProtobufFailure(message: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(types().failure.encode({ message }).finish());
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

/** The members that lead to spans and log records. */
const itemLists = {
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
} as const;

/** Replaces the bytes of the ids of spans and log records. */
function setHexadecimalIds(holder: Record<string, unknown>, [list, ...inner]: readonly string[]): void {
  if (list === undefined) {
    for (const name of idFields)
      if (holder[name] !== undefined) holder[name] = Buffer.from(holder[name] as Buffer).toString('hex');
    return;
  }
  for (const item of (holder[list] ?? []) as Record<string, unknown>[]) setHexadecimalIds(item, inner);
}
