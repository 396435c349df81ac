import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import { newId } from '../../db/new-id.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type StoredFile, storedFiles } from './entity.ts';
import { FileWriter } from './file-bytes.ts';
import { type FileQuota, FileRoom } from './file-room.ts';
import type { Owner } from './owner.ts';
import { badField, StoreError } from './store-error.ts';

export interface Upload {
  readonly owner: Owner;
  readonly contentType: string;
  /** Purpose from a header; the form's own field takes precedence. */
  readonly purpose: string | null;
  readonly body: AsyncIterable<Uint8Array>;
  readonly bytesMax: number;
  readonly quota: FileQuota;
  readonly now: Date;
}

const purposePattern = /^[\w-]{1,64}$/;
/** Clients of providers whose files have no purpose send none, and may have forgotten to name the provider. */
const withoutPurpose =
  "expected the purpose of the file, such as batch. The file is for the service's own store. To send it to a provider that stores files, name the provider in x-svc-provider";

/**
 * Stores a form's `file` as it arrives, with at most one chunk in memory. A truncated or rejected upload leaves nothing behind.
 * Throws StoreError: 400 for an invalid form, 413 beyond `bytesMax` and if the workspace's quota is exhausted.
 */
export async function receiveFile(newManager: () => EntityManager, upload: Upload): Promise<StoredFile> {
  const { owner } = upload;
  const id = newId();
  const file: StoredFile = newManager().create(storedFiles, {
    id,
    organisationId: owner.organisationId,
    workspaceId: owner.workspaceId,
    createdByKey: owner.keyId,
    createdByUser: owner.userId,
    filename: 'file',
    purpose: '',
    contentType: 'application/octet-stream',
    bytes: 0,
    status: 'uploading',
    createdAt: upload.now,
    expiresAt: null,
  });
  const room = new FileRoom(newManager, file, upload.quota, upload.now);
  await room.open();
  try {
    const form = await readForm(newManager, upload, room, { id, organisationId: owner.organisationId });
    const purpose = form.fields.get('purpose') ?? upload.purpose ?? '';
    if (!purposePattern.test(purpose)) throw badField('purpose', withoutPurpose);
    const expiresAt = expiryOf(form.fields, upload.now);
    const more = { filename: form.filename, contentType: form.contentType, bytes: form.bytes, purpose, expiresAt };
    const found = await newManager().nativeUpdate(
      storedFiles,
      { id, organisationId: owner.organisationId },
      { ...more, status: 'processed' },
    );
    if (found === 0) throw new StoreError(404, 'The file was deleted while it was uploaded');
    return { ...file, ...more, status: 'processed' } as StoredFile;
  } catch (error) {
    await newManager()
      .nativeDelete(storedFiles, { id, organisationId: owner.organisationId })
      .catch(() => {});
    throw error;
  }
}

interface Received {
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
}

async function readForm(
  newManager: () => EntityManager,
  upload: Upload,
  room: FileRoom,
  ref: { id: string; organisationId: string },
): Promise<Received> {
  const writer = new FileWriter(newManager, ref);
  const fields = new Map<string, string>();
  let named: { filename: string; contentType: string } | null = null;
  let storing: Promise<void> = Promise.resolve();
  let failed: unknown = null;
  let fail: (error: unknown) => void = () => {};
  /** A parser whose file is not read any more would never request the next piece. */
  const failure = new Promise<never>((_, reject) => {
    fail = (error) => {
      failed ??= error;
      reject(error);
    };
  });
  failure.catch(() => {});

  const parser = openParser(upload.contentType);
  const finished = new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve);
    parser.on('error', (error: Error) => reject(new StoreError(400, `The body is not a valid form: ${error.message}`, 'body')));
  });
  finished.catch(fail);
  // The parser ignores further parts. It would take more than a second for 1 MB of boundaries.
  let isFull = false;
  parser.on('partsLimit', () => {
    isFull = true;
  });
  parser.on('field', (name, value) => fields.set(name, value));
  // Clients that send bytes, such as OpenAI's SDK for Java, state no file name. The parser's types promise one.
  parser.on('file', (name, stream: Readable, statedName: string | undefined, _encoding, contentType) => {
    const filename = statedName || 'file';
    if (name !== 'file' || named !== null) {
      stream.resume();
      return;
    }
    // The database rejects U+0000, and the name is also sent in a header.
    if (/\p{Cc}/u.test(filename + contentType)) {
      stream.resume();
      fail(badField('file', 'control characters are not allowed in the name and the type of the file'));
      return;
    }
    named = { filename: filename.slice(0, 255), contentType: contentType.slice(0, 255) };
    storing = store(stream).catch(fail);
  });

  async function store(stream: Readable): Promise<void> {
    for await (const chunk of stream) {
      if (writer.bytes + (chunk as Buffer).length > upload.bytesMax) {
        throw new StoreError(413, `file: larger than ${upload.bytesMax} bytes`, 'file');
      }
      await room.growTo(writer.bytes + (chunk as Buffer).length);
      await writer.write(chunk as Buffer);
    }
    await writer.end();
  }

  for await (const chunk of upload.body) {
    for (let from = 0; from < chunk.length && !isFull; from += pieceBytes) {
      if (failed) throw failed;
      const piece = Buffer.from(chunk.subarray(from, from + pieceBytes));
      // The parser accepts the next piece once the file's own stream can take more.
      await Promise.race([failure, new Promise<void>((resolve) => void parser.write(piece, () => resolve()))]);
    }
  }
  if (isFull) throw new StoreError(400, `The form has more than ${partsMax} parts`, 'body');
  parser.end();
  await Promise.race([failure, finished]);
  await storing;
  if (failed) throw failed;
  if (!named) throw badField('file', 'a file is expected in the field "file"');
  const { filename, contentType } = named as { filename: string; contentType: string };
  return { fields, filename, contentType, bytes: writer.bytes };
}

const partsMax = 20;
/** Bytes that the parser reads at once. */
const pieceBytes = 16 * 1024;

function openParser(contentType: string): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: partsMax, fieldSize: 64 * 1024, headerPairs: 50 },
    });
  } catch (error) {
    throw new StoreError(400, `content-type must be multipart/form-data: ${(error as Error).message}`, 'content-type');
  }
}

const expirySecondsMin = 3_600;
const expirySecondsMax = 2_592_000;

/** `expires_after[anchor]=created_at`, `expires_after[seconds]`. */
function expiryOf(fields: ReadonlyMap<string, string>, now: Date): Date | null {
  const seconds = fields.get('expires_after[seconds]');
  if (seconds === undefined) return null;
  const value = /^\d{1,9}$/.test(seconds) ? Number(seconds) : 0;
  if (value < expirySecondsMin || value > expirySecondsMax) {
    throw badField('expires_after.seconds', `a whole number from ${expirySecondsMin} to ${expirySecondsMax} is expected`);
  }
  return new Date(now.getTime() + value * 1000);
}
