import { ownFilePrefix } from '../../../core/contract/provider/own-store.ts';
import { isUuid } from '../../../core/contract/values/text/uuid.ts';
import type { StoredFile } from './entity.ts';

/** A file in OpenAI's form (https://platform.openai.com/docs/api-reference/files/object). */
export function toFileReply(file: StoredFile) {
  return {
    id: ownFilePrefix + file.id,
    object: 'file',
    bytes: Number(file.bytes),
    created_at: seconds(file.createdAt),
    expires_at: file.expiresAt ? seconds(file.expiresAt) : null,
    filename: file.filename,
    purpose: file.purpose,
    status: file.status,
    status_details: null,
  };
}

/** Whole seconds since the epoch. */
export function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** Returns the row id in a client-facing id. Null if the id is not of this kind. */
export function rowIdOf(prefix: string, id: unknown): string | null {
  if (typeof id !== 'string' || !id.startsWith(prefix)) return null;
  const row = id.slice(prefix.length);
  return isUuid(row) ? row.toLowerCase() : null;
}
