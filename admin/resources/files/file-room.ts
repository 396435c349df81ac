import { counted } from '../../../core/contract/values/text/counted.ts';
import type { EntityManager } from '../../db/open-database.ts';
import { type StoredFile, storedFiles } from './entity.ts';
import { StoreError } from './store-error.ts';

/** Storage quota of one workspace. */
export interface FileQuota {
  /** Maximum total size of its files. */
  readonly bytesMax: number;
  readonly filesMax: number;
}

/**
 * Reserves storage for an upload while it arrives. Uploads of one workspace reserve one after the other. Each reservation is
 * written to the file's row before the file grows, so that all of them together never exceed the quota. Nothing needs to be
 * released: usage is the sum over the existing rows.
 */
export class FileRoom {
  readonly #newManager: () => EntityManager;
  readonly #file: StoredFile;
  readonly #quota: FileQuota;
  readonly #now: Date;
  #reserved = 0;

  constructor(newManager: () => EntityManager, file: StoredFile, quota: FileQuota, now: Date) {
    this.#newManager = newManager;
    this.#file = file;
    this.#quota = quota;
    this.#now = now;
  }

  /** Adds the row of the file. Throws StoreError 413 if the workspace has too many files. */
  async open(): Promise<void> {
    await this.#newManager().transactional(async (tx) => {
      const { files } = await this.#others(tx);
      const { filesMax } = this.#quota;
      if (files >= filesMax) {
        throw new StoreError(
          413,
          `file: this workspace has reached its limit of ${counted(filesMax, 'file')} (WORKSPACE_FILES_MAX). Delete some`,
          'file',
        );
      }
      await tx.insert(storedFiles, this.#file);
    });
  }

  /** Call before the file reaches this size in bytes. Throws StoreError 413 if the quota does not allow it. */
  async growTo(bytes: number): Promise<void> {
    if (bytes <= this.#reserved) return;
    const { id, organisationId } = this.#file;
    await this.#newManager().transactional(async (tx) => {
      const { bytesMax } = this.#quota;
      const free = bytesMax - (await this.#others(tx)).bytes;
      if (bytes > free) {
        const message = `file: the files of this workspace would exceed ${bytesMax} bytes (WORKSPACE_FILE_BYTES_MAX). Delete some`;
        throw new StoreError(413, message, 'file');
      }
      // The reservation doubles each time: few reservations for a large file, small ones for a small file.
      this.#reserved = Math.min(free, bytes * 2);
      await tx.nativeUpdate(storedFiles, { id, organisationId }, { bytes: this.#reserved });
    });
  }

  /** Returns the storage used by the other files of the workspace. Locks the quota until the transaction ends. */
  async #others(tx: EntityManager): Promise<{ readonly bytes: number; readonly files: number }> {
    const { id, organisationId, workspaceId } = this.#file;
    await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`files/${workspaceId}`]);
    const [row] = await tx.execute<[{ bytes: string; files: string }]>(
      `select coalesce(sum(bytes), 0) as bytes, count(*) as files from stored_files
       where organisation_id = ? and workspace_id = ? and id <> ? and (expires_at is null or expires_at > ?)`,
      [organisationId, workspaceId, id, this.#now],
    );
    return { bytes: Number(row.bytes), files: Number(row.files) };
  }
}
