import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../core/contract/values/errors/message-of.ts';
import { type ByteRange, type ObjectStore, ObjectStoreError } from './object-store.ts';

/** Stores objects as files of a directory, which only this user can read. Control planes on several machines must share it. */
export function createDirectoryStore(directory: string): ObjectStore {
  const pathOf = (key: string) => join(directory, ...key.split('/'));
  return {
    put: (key, bytes) => inStore(() => write(pathOf(key), bytes)),
    get: (key, range) => inStore(() => read(pathOf(key), range)),
    remove: (key) => inStore(() => removeFile(pathOf(key), directory)),
  };
}

/** Writes a temporary file first, so that a killed process leaves no incomplete object. */
async function write(path: string, bytes: Uint8Array): Promise<void> {
  await makeFolder(dirname(path));
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Creates a folder and its parents. The option `recursive` of `mkdir` is not used, because below /proc it loops forever. */
async function makeFolder(path: string): Promise<void> {
  const make = () =>
    mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
  try {
    await make();
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    await makeFolder(parent);
    await make();
  }
}

async function read(path: string, range: ByteRange | undefined): Promise<Uint8Array | null> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
  try {
    if (!range) return await file.readFile();
    const bytes = Buffer.alloc(range.length);
    const { bytesRead } = await file.read(bytes, 0, range.length, range.offset);
    return bytes.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Removes the file and the folders that it leaves empty. */
async function removeFile(path: string, directory: string): Promise<void> {
  await rm(path, { force: true });
  for (let folder = dirname(path); folder.length > directory.length; folder = dirname(folder)) {
    try {
      await rmdir(folder);
    } catch {
      return;
    }
  }
}

async function inStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    // A folder that became empty was removed between `mkdir` and `open`: the next attempt creates it.
    if (codeOf(error) !== 'ENOENT') throw toError(error);
    return work().catch((again: unknown) => Promise.reject(toError(again)));
  }
}

function toError(error: unknown): ObjectStoreError {
  return new ObjectStoreError(`OBJECT_STORE: ${messageOf(error)}`);
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code;
}
