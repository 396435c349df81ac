import { expect } from 'vitest';
import type { UpstreamCall } from '../../../core/contract/provider/upstream.ts';
import type { HeaderList, RequestBody } from '../../../core/contract/values/http/http.ts';
import { createHarness, type FakeSink, type Script } from '../../../core/test-kit/pipeline-harness.ts';
import type { StoredCase, StoredFile, WrittenBody, WrittenExchange } from './stored-fixtures.ts';

/** The calls that the gateway sent, and the client's reply. */
export interface StoredRun {
  readonly calls: readonly { readonly line: string; readonly headers: Record<string, string>; readonly body: Uint8Array }[];
  readonly sink: FakeSink;
}

const boundary = 'svc-fixture';

/** Runs one case through the real pipeline. The exchange at `refusedAt` gets the provider's error reply. */
export async function runStored(file: StoredFile, given: StoredCase, refusedAt = Number.NaN): Promise<StoredRun> {
  const harness = createHarness({ now: () => 1_760_000_000_000 });
  harness.addConfig('kept', file.target);
  const bodies: Uint8Array[] = [];
  const script: Script = async (call, handler) => {
    const index = harness.calls.indexOf(call);
    try {
      bodies[index] = await bytesOf(call);
    } catch (error) {
      return handler.onError(error as never);
    }
    const { status = 200, headers, ...body } = responseAt(file, given, index, refusedAt);
    const bytes = call.method === 'HEAD' ? Buffer.alloc(0) : bytesOfWritten(body);
    handler.onHead(status, listOf({ ...typeOf(body), ...headers }));
    if (bytes.length > 0) handler.onData(bytes);
    handler.onEnd();
  };
  harness.script(script);
  const [method = '', path = ''] = given.request.line.split(' ');
  const sink = await harness.send({
    method,
    path,
    headers: { 'content-type': undefined, 'x-svc-config': 'kept', ...typeOf(given.request), ...given.request.headers } as never,
    body: bytesOfWritten(given.request),
  });
  const calls = harness.calls.map(({ method, origin, path, headers }, index) => ({
    line: `${method} ${origin}${path}`,
    headers: recordOf(headers),
    body: bodies[index] ?? new Uint8Array(0),
  }));
  return { calls, sink };
}

/** Checks that the sent call equals the fixture. */
export function expectExchange(
  sent: StoredRun['calls'][number] | undefined,
  file: StoredFile,
  { request }: WrittenExchange,
): void {
  const { line, headers, ...body } = request;
  const written = JSON.stringify([file.headers, request]);
  expect(settled(sent?.line ?? 'no call', written)).toBe(line);
  const expected = Object.entries({ ...file.headers, ...typeOf(body), ...headers }).filter(([, value]) => value !== null);
  expect(JSON.parse(settled(JSON.stringify(sent?.headers), written))).toEqual(Object.fromEntries(expected));
  expectBody(sent?.body ?? new Uint8Array(0), body, sent?.headers['content-type']);
}

/** Checks that these bytes equal the fixture's body. */
export function expectBody(bytes: Uint8Array, body: WrittenBody, contentType = ''): void {
  const text = settled(Buffer.from(bytes).toString('utf8'), JSON.stringify(body));
  if (body.json) expect(JSON.parse(text)).toEqual(body.json);
  else if (body.lines) expect(linesOf(text)).toEqual(body.lines);
  else if (body.form) expect(partsOf(Buffer.from(bytes).toString('utf8'), contentType)).toEqual(body.form);
  else if (body.base64 !== undefined) expect(Buffer.from(bytes).toString('base64')).toBe(body.base64);
  else expect(text).toBe(body.text ?? '');
}

/** The bytes of the fixture's body. */
export function bytesOfWritten({ json, lines, form, text, base64 }: WrittenBody): Buffer {
  if (json) return Buffer.from(JSON.stringify(json));
  if (lines) return Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  if (base64 !== undefined) return Buffer.from(base64, 'base64');
  if (!form) return Buffer.from(text ?? '');
  const parts = form.map(({ name, text, filename, type }) => {
    const file = filename === undefined ? '' : `; filename="${filename}"`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type ? `Content-Type: ${type}\r\n` : ''}\r\n${text}\r\n`;
  });
  return Buffer.from(`${parts.join('')}--${boundary}--\r\n`);
}

function responseAt(file: StoredFile, given: StoredCase, index: number, refusedAt: number): WrittenExchange['response'] {
  const exchange = given.exchanges[index];
  if (index === refusedAt || (!exchange && index > refusedAt)) return file.refusal;
  if (!exchange) throw new Error(`an exchange more than the fixture has: number ${index + 1}`);
  return exchange.response;
}

function typeOf({ json, lines, form, text, base64 }: WrittenBody): Record<string, string> {
  if (json) return { 'content-type': 'application/json' };
  if (lines) return { 'content-type': 'application/jsonl' };
  if (form) return { 'content-type': `multipart/form-data; boundary=${boundary}` };
  return text === undefined && base64 === undefined ? {} : { 'content-type': 'application/octet-stream' };
}

async function bytesOf({ body }: UpstreamCall): Promise<Uint8Array> {
  if (body === null || body instanceof Uint8Array) return body ?? new Uint8Array(0);
  return (body as RequestBody).bytes(1024 * 1024);
}

function listOf(headers: Readonly<Record<string, string>>): HeaderList {
  return Object.entries(headers).flat();
}

function recordOf(headers: HeaderList): Record<string, string> {
  const record: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    expect(Object.keys(record)).not.toContain(name);
    record[name] = headers[i + 1] as string;
  }
  return record;
}

/** Replaces ids, hashes and signatures that differ between runs by `<uuid>` and `<hash>`, unless they are `written`. */
function settled(text: string, written: string): string {
  const unless = (name: string) => (found: string) => (written.includes(found) ? found : name);
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, unless('<uuid>'))
    .replace(/\b[0-9a-f]{64}\b/g, unless('<hash>'));
}

function linesOf(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function partsOf(text: string, contentType: string): unknown[] {
  const [, between = ''] = /boundary=(.+)$/.exec(contentType) ?? [];
  const parts = text.split(`--${between}`).slice(1, -1);
  return parts.map((part) => {
    const [head = '', ...rest] = part.replace(/^\r\n/, '').split('\r\n\r\n');
    const field = (pattern: RegExp): string | undefined => pattern.exec(head)?.[1];
    const filename = field(/filename="([^"]*)"/);
    const type = field(/content-type: *(.+)/i);
    return {
      name: field(/; name="([^"]*)"/),
      text: rest.join('\r\n\r\n').replace(/\r\n$/, ''),
      ...(filename === undefined ? {} : { filename }),
      ...(type === undefined ? {} : { type }),
    };
  });
}
