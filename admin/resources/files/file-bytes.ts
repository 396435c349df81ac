import type { EntityManager } from '../../db/open-database.ts';
import { storedFileChunks } from './entity.ts';

const chunkBytes = 256 * 1024;

export interface FileRef {
  readonly id: string;
  readonly organisationId: string;
}

/**
 * Writes a file's bytes from the start as chunks, each with a separate statement, so that only the current chunk is in memory.
 * `newManager` returns a fresh unit of work.
 */
export class FileWriter {
  readonly #newManager: () => EntityManager;
  readonly #file: FileRef;
  #parts: Uint8Array[] = [];
  #held = 0;
  #number = 0;
  #bytes = 0;

  constructor(newManager: () => EntityManager, file: FileRef) {
    this.#newManager = newManager;
    this.#file = file;
  }

  /** Number of bytes that were read. */
  get bytes(): number {
    return this.#bytes;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#bytes += bytes.length;
    this.#parts.push(bytes);
    this.#held += bytes.length;
    if (this.#held < chunkBytes) return;
    let all = Buffer.concat(this.#parts, this.#held);
    while (all.length >= chunkBytes) {
      await this.#store(all.subarray(0, chunkBytes));
      all = all.subarray(chunkBytes);
    }
    // A copy, because a view would keep the whole chunk in memory.
    this.#parts = all.length === 0 ? [] : [Buffer.from(all)];
    this.#held = all.length;
  }

  /** Stores the rest. */
  async end(): Promise<void> {
    if (this.#held > 0) await this.#store(Buffer.concat(this.#parts, this.#held));
    this.#parts = [];
    this.#held = 0;
  }

  async #store(bytes: Buffer): Promise<void> {
    const { id, organisationId } = this.#file;
    await this.#newManager().insert(storedFileChunks, { fileId: id, number: this.#number++, organisationId, bytes });
  }
}

/** Returns a file's bytes in order, a chunk at a time. */
export async function* readFileBytes(
  newManager: () => EntityManager,
  { id, organisationId }: FileRef,
): AsyncGenerator<Uint8Array> {
  for (let number = 0; ; number++) {
    const chunk = await newManager().findOne(storedFileChunks, { fileId: id, number, organisationId });
    if (!chunk) return;
    yield new Uint8Array(chunk.bytes);
  }
}
