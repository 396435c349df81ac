import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy } from '@fastify/busboy';
import type { BytesReply } from '../../contract/provider/provider.ts';
import { type FormPart, partText } from '../../contract/values/bodies/form.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { JsonObject } from '../../contract/values/json/json.ts';
import { fileNamesIn } from './file-names.ts';
import { boundaryOf, countParts, partsMax } from './form-framing.ts';

const fieldBytesMax = 1024 * 1024;
const sliceBytes = 64 * 1024;
/** Bytes of a form that are read in one step, which takes about a millisecond. A form without more is read at once. */
export const formStepBytes = 2 * sliceBytes;

/** Runs steps in turns of the event loop, in which other requests are served. May reject between two steps. */
export type InTurns = <Result>(steps: Generator<void, Result>) => Promise<Result>;

/** Maximum bytes of a form that are searched for its text fields. */
export const formHeadBytes = 64 * 1024;

/**
 * Returns the parts of a `multipart/form-data` body (RFC 7578) in their order. Throws `bad_request` for another body, one that is cut
 * short or that parsers read in different ways, more than 1,000 parts, a part header over 16 KiB or a text field over 1 MiB. A large form is read with
 * `inTurns`.
 */
export async function parseForm(bytes: Uint8Array, contentType: string, inTurns: InTurns = inOwnTurns): Promise<FormPart[]> {
  const parts: FormPart[] = [];
  const parser = openParser(contentType, parts);
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const names: (readonly string[])[] = [];
  const starts: number[] = [];
  partsIn(body, contentType, (header) => {
    names.push(fileNamesIn(header));
    starts.push(header.byteOffset - body.byteOffset + header.length + headerEndBytes);
  });
  let failed = false;
  const parsed = new Promise<void>((resolve, reject) => {
    const fail = (why: string): void => {
      failed = true;
      reject(unreadable(why));
    };
    parser.on('finish', resolve);
    parser.on('error', (error: Error) => fail(error.message));
    parser.on('partsLimit', () => fail(`more than ${partsMax} parts`));
  });
  // It may be rejected before it is awaited.
  parsed.catch(() => {});
  const run = body.length > formStepBytes ? inTurns : atOnce;
  try {
    await run(writeSteps(parser, body, () => failed));
    await parsed;
  } finally {
    parser.removeAllListeners();
    // Slices that it has buffered may still fail.
    parser.on('error', () => undefined);
  }
  if (parts.length === 0 && bytes.length > 0) throw unreadable('no parts');
  // The parser skips parts that it cannot read.
  if (parts.length !== names.length) throw unreadable('the header of a part cannot be read');
  await run(correctSteps(parts, { body, delimiter: `\r\n--${boundaryOf(contentType)}`, names, starts }));
  return parts;
}

/** Writes in slices, because the parser reads its input to the end even after an error, and because 30 MB take a second. */
function* writeSteps(parser: Parser, body: Buffer, hasFailed: () => boolean): Generator<void, void> {
  for (let at = 0; at < body.length && !hasFailed(); at += sliceBytes) {
    if (at > 0 && at % formStepBytes === 0) yield;
    parser.write(body.subarray(at, at + sliceBytes));
  }
  if (!hasFailed()) parser.end();
}

interface Source {
  readonly body: Buffer;
  readonly delimiter: string;
  /** By part: the names in its header, and where its body begins. */
  readonly names: readonly (readonly string[])[];
  readonly starts: readonly number[];
}

/** Adds the other names of files, and replaces text fields that are not UTF-8 by the bytes that were sent. */
function* correctSteps(parts: FormPart[], { body, delimiter, names, starts }: Source): Generator<void, void> {
  let stepBytes = 0;
  for (const [index, part] of parts.entries()) {
    if (part.filename !== null) {
      parts[index] = withNames(part, names[index] as readonly string[]);
      continue;
    }
    if (stepBytes > formStepBytes) {
      yield;
      stepBytes = 0;
    }
    stepBytes += part.body.length;
    if (!Buffer.from(part.body.buffer, part.body.byteOffset, part.body.byteLength).includes(replacement)) continue;
    const start = starts[index] as number;
    parts[index] = { ...part, body: body.subarray(start, body.indexOf(delimiter, start)) };
  }
}

/** The character that stands for bytes that are not UTF-8. */
const replacement = Buffer.from('\ufffd');

async function inOwnTurns<Result>(steps: Generator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await nextTurn();
  }
}

async function atOnce<Result>(steps: Generator<void, Result>): Promise<Result> {
  return resultOf(steps);
}

function resultOf<Result>(steps: Generator<void, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Length of the empty line that ends the header of a part. */
const headerEndBytes = 4;

function withNames(part: FormPart, names: readonly string[]): FormPart {
  const otherNames = part.filename === null ? [] : names.filter((name) => name !== part.filename);
  return otherNames.length === 0 ? part : { ...part, otherNames };
}

function partsIn(body: Buffer, contentType: string, onHeader: (header: Buffer) => void): void {
  const boundary = boundaryOf(contentType);
  if (boundary === null) throw unreadable('the content type needs one boundary');
  try {
    countParts(body, boundary, onHeader);
  } catch (thrown) {
    throw unreadable((thrown as Error).message);
  }
}

/** Returns the text fields that are complete in the first bytes of a form. */
export async function fieldsInHead(head: Uint8Array, contentType: string): Promise<FormPart[]> {
  const parts: FormPart[] = [];
  const parser = openParser(contentType, parts);
  // The first bytes may end anywhere, so the parser's error about the end is ignored.
  parser.on('error', () => undefined);
  await new Promise<void>((resolve) => parser.write(Buffer.from(head), () => setImmediate(resolve)));
  return parts.filter((part) => part.filename === null);
}

/** Returns the text fields as parameters. `name[]` and repeated names become lists. */
export function paramsOfForm(parts: readonly FormPart[]): JsonObject {
  return resultOf(paramSteps(parts));
}

/** Like `paramsOfForm`, for the parts of a large form. */
export function* paramSteps(parts: readonly FormPart[]): Generator<void, JsonObject> {
  const params: JsonObject = {};
  let stepBytes = 0;
  for (const part of parts) {
    if (part.filename !== null) continue;
    if (stepBytes > formStepBytes) {
      yield;
      stepBytes = 0;
    }
    stepBytes += part.body.length;
    const text = partText(part);
    const name = part.name.replace(/\[\]$/, '');
    const known = Object.hasOwn(params, name) ? params[name] : undefined;
    if (Array.isArray(known)) known.push(text);
    else if (known !== undefined) params[name] = [known, text];
    else params[name] = name === part.name ? text : [text];
  }
  return params;
}

/** Returns the form with the text fields of these parameters: changed ones replaced, missing ones removed, new ones added. */
export function withParams(parts: readonly FormPart[], before: JsonObject, after: JsonObject): FormPart[] {
  const changed = (name: string): boolean => before[name] !== after[name];
  const written = new Set<string>();
  const result: FormPart[] = [];
  for (const part of parts) {
    const name = part.name.replace(/\[\]$/, '');
    if (part.filename !== null || !changed(name)) result.push(part);
    else if (!written.has(name)) {
      written.add(name);
      result.push(...fieldsOf(part.name, after[name]));
    }
  }
  for (const name of Object.keys(after)) {
    if (!written.has(name) && !Object.hasOwn(before, name)) result.push(...fieldsOf(name, after[name]));
  }
  return result;
}

/** The text fields of one parameter: one each for the items of a list, JSON for objects, none for null. */
function fieldsOf(name: string, value: unknown): FormPart[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => fieldsOf(name.endsWith('[]') ? name : `${name}[]`, item));
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [{ name, filename: null, contentType: null, body: Buffer.from(text) }];
}

/** Encodes a form (HTML standard, multipart/form-data encoding algorithm). */
export function encodeForm(parts: readonly FormPart[]): BytesReply {
  const boundary = `svc-${randomBytes(18).toString('base64url')}`;
  const pieces: Uint8Array[] = [];
  for (const { name, filename, contentType, body } of parts) {
    const file = filename === null ? '' : `; filename="${quoted(filename)}"`;
    const type =
      contentType === null && filename === null ? '' : `content-type: ${contentType ?? 'application/octet-stream'}\r\n`;
    pieces.push(Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="${quoted(name)}"${file}\r\n${type}\r\n`));
    pieces.push(body, lineEnd);
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { contentType: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat(pieces) };
}

const lineEnd = Buffer.from('\r\n');

function quoted(text: string): string {
  return text.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function openParser(contentType: string, parts: FormPart[]): Parser {
  let parser: Parser;
  try {
    parser = new Busboy({
      headers: { 'content-type': contentType },
      preservePath: true,
      isPartAFile: (_name, _type, filename) => filename !== undefined,
      limits: { parts: partsMax, fieldSize: fieldBytesMax, headerPairs: 50 },
    });
  } catch (thrown) {
    throw unreadable((thrown as Error).message);
  }
  parser.on('field', (name, value, _nameCut, valueCut, _encoding, type) => {
    if (valueCut)
      parser.emit(
        'error',
        new Error(`the field ${name.slice(0, 100)} is longer than ${fieldBytesMax} bytes and has no file name`),
      );
    parts.push({ name, filename: null, contentType: type === 'text/plain' ? null : type, body: Buffer.from(value) });
  });
  parser.on('file', (name, stream: Readable, filename, _encoding, type) => {
    const chunks: Uint8Array[] = [];
    const index = parts.push({ name, filename, contentType: type, body: noBytes }) - 1;
    stream.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
    stream.on('end', () => {
      const body = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
      parts[index] = { name, filename, contentType: type, body };
    });
    stream.on('error', () => undefined);
  });
  return parser;
}

type Parser = InstanceType<typeof Busboy>;
const noBytes = new Uint8Array(0);

function unreadable(why: string): GatewayError {
  return new GatewayError('bad_request', { message: `The body is not a valid form: ${why}`, param: 'body' });
}
