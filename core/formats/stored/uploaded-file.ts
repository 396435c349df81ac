import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { OperationCall, StepServices } from '../../contract/provider/provider.ts';
import { badParam } from '../bad-param.ts';
import { storedText } from './stored-settings.ts';

/** The file of a `POST /files` form, read while it arrives. */
export interface UploadedFile {
  readonly filename: string;
  readonly contentType: string;
  /** Field `purpose`, or the setting `file_purpose` if the field is too far after the file, or `batch` if neither is set. */
  readonly purpose: string;
  /** Length in bytes, if `file_upload_size` states it. `chunks` then throw `bad_request` if the length differs. */
  readonly bytes: number | null;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Maximum number of bytes that are read to find the fields after the file, where most clients send them. */
const headBytes = 1024 * 1024;

/** Opens the client's form (RFC 7578) and passes its file to `use`. Throws `bad_request` if it has none. Holds at most 1 MiB. */
export async function withUpload<Result>(
  call: OperationCall,
  services: StepServices,
  use: (file: UploadedFile) => Promise<Result>,
): Promise<Result> {
  const gone = new AbortController();
  const form = openForm(call, services, gone.signal);
  try {
    const { stream, filename, contentType } = await form.file;
    const source = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    const { head, ended } = await readHead(source);
    if (ended) await form.whole;
    const given = form.fields.get('purpose') ?? storedText(call, 'file_purpose') ?? 'batch';
    const purpose = /^[\w-]{1,64}$/.test(given) ? given : 'batch';
    const size = call.settings.file_upload_size;
    const bytes = typeof size === 'number' ? size : null;
    return await use({ filename, contentType, purpose, bytes, chunks: sized(joined(head, ended ? null : source), bytes) });
  } finally {
    gone.abort();
  }
}

interface OpenFile {
  readonly stream: Readable;
  readonly filename: string;
  readonly contentType: string;
}

function openForm(call: OperationCall, services: StepServices, gone: AbortSignal) {
  const contentType = call.header?.('content-type') ?? '';
  if (!/^multipart\/form-data\s*;/i.test(contentType)) throw badParam('file', 'a multipart form with a file is expected');
  const fields = new Map<string, string>();
  const parser = new Busboy({ headers: { 'content-type': contentType }, limits: { fieldSize: 64 * 1024, parts: 100 } });
  parser.on('field', (name, value) => void fields.set(name, value));
  let failed: Error | null = null;
  let opened: Readable | null = null;
  const fail = (error: Error): void => {
    failed ??= error;
    opened?.destroy(failed);
  };
  const file = new Promise<OpenFile>((resolve, reject) => {
    parser.on('file', (name, stream, filename, _encoding, mimeType) => {
      if (name !== 'file' || opened) return void stream.resume();
      opened = stream;
      resolve({ stream, filename: filename || 'file', contentType: mimeType });
    });
    parser.on('finish', () => reject(badParam('file', 'a file is expected')));
    parser.on('error', (error) => {
      const unreadable = badParam('file', `the form cannot be read (${(error as Error).message})`);
      fail(unreadable);
      reject(unreadable);
    });
    gone.addEventListener('abort', () => reject(new Error('the form is no longer read')));
  });
  const whole = pump(services, parser, gone).catch((thrown: Error) => {
    fail(thrown);
    throw failed ?? thrown;
  });
  whole.catch(() => {});
  file.catch(() => {});
  return { fields, file: Promise.race([file, whole.then(() => file)]), whole };
}

async function pump(services: StepServices, parser: BusboyInstance, gone: AbortSignal): Promise<void> {
  const finished = once(parser, 'finish', { signal: gone });
  finished.catch(() => {});
  for await (const chunk of services.body) {
    if (gone.aborted) return;
    if (!parser.write(Buffer.from(chunk))) await once(parser, 'drain', { signal: gone });
  }
  parser.end();
  await finished;
}

async function readHead(source: AsyncIterator<Uint8Array>): Promise<{ head: Uint8Array[]; ended: boolean }> {
  const head: Uint8Array[] = [];
  let size = 0;
  while (size < headBytes) {
    const { value, done } = await source.next();
    if (done) return { head, ended: true };
    head.push(value);
    size += value.length;
  }
  return { head, ended: false };
}

/** Rejects a file that is shorter or longer than announced. */
async function* sized(chunks: AsyncIterable<Uint8Array>, bytes: number | null): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of chunks) {
    size += chunk.length;
    if (bytes !== null && size > bytes) break;
    yield chunk;
  }
  if (bytes !== null && size !== bytes) throw badParam('file_upload_size', `the file does not have the ${bytes} bytes announced`);
}

async function* joined(head: readonly Uint8Array[], rest: AsyncIterator<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  yield* head;
  for (;;) {
    const next = await rest?.next();
    if (!next || next.done) return;
    yield next.value;
  }
}
