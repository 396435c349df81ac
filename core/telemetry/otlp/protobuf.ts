import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type protobuf from 'protobufjs/light.js';
import type { Signal } from './messages.ts';
import { schema } from './protobuf-schema.ts';

/** Bytes stay bytes. */
const plain = { longs: String, enums: Number } as const;

interface Loaded extends Readonly<Record<Signal | 'response' | 'failure', protobuf.Type>> {
  /** Returns a reader that counts its fields. */
  readonly countedReader: (bytes: Uint8Array, counts: Counts) => protobuf.Reader;
}

export interface RequestLimits {
  readonly fieldsMax: number;
  /** Maximum fields of one span, log record, resource or scope. */
  readonly itemFieldsMax: number;
  /** Maximum spans or log records, with the resources and scopes around them. */
  readonly itemsMax: number;
}

let loaded: Loaded | null = null;

/** A message exceeds a limit, which the message of the error names. */
export class TooManyFields extends Error {}

/** Fields that are read in one turn of the event loop, which takes some milliseconds. */
const fieldsPerTurn = 5_000;

class Counts {
  readonly #limits: RequestLimits;
  #items = 0;
  #fields = 0;
  #fieldsBefore = 0;
  #fieldsOfItem = 0;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  addField(): void {
    const { fieldsMax, itemFieldsMax } = this.#limits;
    if (++this.#fields > fieldsMax) throw new TooManyFields(`more than ${fieldsMax} fields`);
    if (++this.#fieldsOfItem > itemFieldsMax) throw new TooManyFields(`more than ${itemFieldsMax} fields in one item`);
  }

  /** Returns true if other requests must be served before the item is read. */
  addItem(): boolean {
    const { itemsMax } = this.#limits;
    if (++this.#items > itemsMax) throw new TooManyFields(`more than ${itemsMax} items`);
    this.#fieldsOfItem = 0;
    const isTurnOver = this.#fields - this.#fieldsBefore > fieldsPerTurn;
    if (isTurnOver) this.#fieldsBefore = this.#fields;
    return isTurnOver;
  }
}

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
      countedReader: countedReaderOf(library),
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
 * are enough for a field that becomes an object, so the number of fields determines the time and memory, not that of bytes. Other requests are
 * served between two spans or log records.
 */
export async function decodeProtobufRequest(
  signal: 'traces' | 'logs',
  bytes: Uint8Array,
  limits: RequestLimits,
): Promise<object> {
  const counts = new Counts(limits);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoding = decodeSteps(types()[signal], whole, listFields[signal], counts);
  for (;;) {
    const step = decoding.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

/** Decodes the elements of the first of these lists one by one, and the other fields of the message at once. */
function* decodeSteps(
  type: protobuf.Type,
  bytes: Buffer,
  [list, ...inner]: readonly string[],
  counts: Counts,
): Generator<void, Record<string, unknown>> {
  if (counts.addItem()) yield;
  const { countedReader } = types();
  if (list === undefined) {
    const item = type.toObject(type.decode(countedReader(bytes, counts)), plain);
    setHexadecimalIds(item);
    return item;
  }
  const field = type.fields[list] as protobuf.Field;
  const element = field.resolve().resolvedType as protobuf.Type;
  const elements: object[] = [];
  const others: Buffer[] = [];
  const reader = countedReader(bytes, counts);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const tag = reader.tag();
    if (tag === ((field.id << 3) | lengthDelimited)) {
      const content = reader.uint32();
      reader.skip(content);
      const part = bytes.subarray(reader.pos - content, reader.pos);
      elements.push(yield* decodeSteps(element, part, inner, counts));
    } else {
      reader.skipType(tag & 7, 0, tag >>> 3);
      others.push(bytes.subarray(start, reader.pos));
    }
  }
  const message = type.toObject(type.decode(countedReader(Buffer.concat(others), counts)), plain);
  if (elements.length > 0) message[list] = elements;
  return message;
}

const lengthDelimited = 2;

function countedReaderOf({ BufferReader }: typeof protobuf): Loaded['countedReader'] {
  // The library reads each field of a message that it knows with this method, and checks the class of readers.
  class CountedReader extends BufferReader {
    readonly #counts: Counts;

    constructor(bytes: Uint8Array, counts: Counts) {
      super(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      this.#counts = counts;
    }

    override tag(): number {
      this.#counts.addField();
      return super.tag();
    }
  }
  return (bytes, counts) => new CountedReader(bytes, counts);
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

/** The fields that lead to spans and log records. */
const listFields = {
  traces: ['resourceSpans', 'scopeSpans', 'spans'],
  logs: ['resourceLogs', 'scopeLogs', 'logRecords'],
} as const;

/** Replaces the bytes of the ids of a span or log record. */
function setHexadecimalIds(item: Record<string, unknown>): void {
  for (const name of idFields) if (item[name] !== undefined) item[name] = Buffer.from(item[name] as Buffer).toString('hex');
}
