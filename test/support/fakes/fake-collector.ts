import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';

const require = createRequire(import.meta.url);

interface OfficialType {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  fromObject(object: object): object;
  toObject(message: object, options: object): Record<string, unknown>;
}
/** Code that the OpenTelemetry project has generated from the definitions of the protocol. */
const official = require('@opentelemetry/otlp-transformer/build/src/generated/root').opentelemetry.proto.collector;
export const officialTypes: Readonly<Record<string, { readonly request: OfficialType; readonly response: OfficialType }>> = {
  '/v1/traces': { request: official.trace.v1.ExportTraceServiceRequest, response: official.trace.v1.ExportTraceServiceResponse },
  '/v1/logs': { request: official.logs.v1.ExportLogsServiceRequest, response: official.logs.v1.ExportLogsServiceResponse },
  '/v1/metrics': {
    request: official.metrics.v1.ExportMetricsServiceRequest,
    response: official.metrics.v1.ExportMetricsServiceResponse,
  },
};

export interface ReceivedExport {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The message in OTLP's JSON form. */
  readonly message: Record<string, unknown>;
}

/** The reply of the collector: a status with headers and body, or `stall` for none. */
export type CollectorReply =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string | Uint8Array }
  | 'stall';

/**
 * A collector of OTLP/HTTP. It decodes JSON and protobuf with the official definitions and rejects messages with unknown members.
 * `reply` decides what it replies.
 */
export async function startFakeCollector(result: (request: ReceivedExport, number: number) => CollectorReply = () => accepted) {
  const received: ReceivedExport[] = [];
  const problems: unknown[] = [];
  let waiting: (() => void)[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    try {
      received.push(read(request, Buffer.concat(chunks)));
    } catch (error) {
      problems.push(error);
      response.writeHead(400).end();
      return;
    }
    const reply = result(received.at(-1) as ReceivedExport, received.length);
    if (reply !== 'stall') response.writeHead(reply.status, reply.headers).end(reply.body);
    const callbacks = waiting;
    waiting = [];
    for (const callback of callbacks) callback();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Resolves when this many exports have arrived. Fails if a message was invalid. */
    async until(count: number): Promise<void> {
      while (received.length < count && problems.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
      expect(problems).toEqual([]);
    },
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      expect(problems).toEqual([]);
    },
  };
}

const accepted = { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };

/** All spans, log records or metrics of an export. */
export function itemsOf({ message }: ReceivedExport): Record<string, unknown>[] {
  // biome-ignore lint/suspicious/noExplicitAny: messages of three kinds with the same nesting
  const { resourceSpans, resourceLogs, resourceMetrics } = message as any;
  // biome-ignore lint/suspicious/noExplicitAny: see above
  return (resourceSpans ?? resourceLogs ?? resourceMetrics ?? []).flatMap((resource: any) =>
    (resource.scopeSpans ?? resource.scopeLogs ?? resource.scopeMetrics).flatMap(
      // biome-ignore lint/suspicious/noExplicitAny: see above
      (scope: any) => scope.spans ?? scope.logRecords ?? scope.metrics,
    ),
  );
}

/** Attributes as an object of plain values. */
export function attributesAsObject(attributes: unknown): Record<string, unknown> {
  const plain = (value: Record<string, unknown>): unknown => {
    if ('arrayValue' in value) return (value.arrayValue as { values: Record<string, unknown>[] }).values.map(plain);
    return 'intValue' in value ? Number(value.intValue) : Object.values(value)[0];
  };
  const list = attributes as { key: string; value: Record<string, unknown> }[];
  return Object.fromEntries(list.map(({ key, value }) => [key, plain(value)]));
}

function read(request: IncomingMessage, sent: Buffer): ReceivedExport {
  const [path = ''] = (request.url ?? '').split('?');
  const type = officialTypes[path]?.request;
  if (!type) throw new Error(`no signal has the path ${path}`);
  const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  if (request.headers['content-type'] === 'application/x-protobuf') {
    const message = toJsonForm(type, type.decode(bytes));
    return { path, headers: request.headers, message };
  }
  const given = JSON.parse(bytes.toString()) as object;
  const message = toJsonForm(type, type.fromObject(mapIds(given, 'hex', 'base64') as object));
  // Unknown members and values of another type are lost on the way through the official message.
  expect(message).toEqual(given);
  return { path, headers: request.headers, message };
}

function toJsonForm(type: OfficialType, message: object): Record<string, unknown> {
  const plain = type.toObject(message, { longs: String, bytes: String });
  return mapIds(plain, 'base64', 'hex') as Record<string, unknown>;
}

function mapIds(value: unknown, from: BufferEncoding, to: BufferEncoding): unknown {
  if (Array.isArray(value)) return value.map((item) => mapIds(item, from, to));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) =>
      ['traceId', 'spanId', 'parentSpanId'].includes(key) && typeof part === 'string'
        ? [key, Buffer.from(part, from).toString(to)]
        : [key, mapIds(part, from, to)],
    ),
  );
}
