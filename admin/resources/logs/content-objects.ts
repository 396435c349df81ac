import type { EntityManager } from '../../db/open-database.ts';
import { type ObjectStore, ObjectStoreError } from '../../object-store/object-store.ts';
import { storeObject } from '../../object-store/stored-objects.ts';

/** Sealed headers and bodies of one request. */
export interface SealedContent {
  readonly id: string;
  readonly createdAt: string;
  readonly organisationId: string;
  readonly bytes: Uint8Array;
}

/** Location of a content: an object holds those of many requests, one after the other. */
export interface ContentLocation {
  readonly objectKey: string;
  readonly objectOffset: number;
  readonly objectBytes: number;
}

/**
 * Stores contents in the object store, in one object per organisation. Returns their locations by id, without those that could not be
 * stored.
 */
export async function storeInObjects(
  em: EntityManager,
  objects: ObjectStore,
  contents: readonly SealedContent[],
): Promise<ReadonlyMap<string, ContentLocation>> {
  const locations = new Map<string, ContentLocation>();
  for (const [organisationId, group] of Map.groupBy(contents, (content) => content.organisationId)) {
    const newestAt = new Date(Math.max(...group.map(({ createdAt }) => Date.parse(createdAt)))).toISOString();
    const bytes = Buffer.concat(group.map((content) => content.bytes));
    let objectKey: string;
    try {
      objectKey = await storeObject(em, objects, { organisationId, newestAt }, bytes);
    } catch (error) {
      if (error instanceof ObjectStoreError) continue;
      throw error;
    }
    let objectOffset = 0;
    for (const { id, bytes: one } of group) {
      locations.set(id, { objectKey, objectOffset, objectBytes: one.length });
      objectOffset += one.length;
    }
  }
  return locations;
}

/** Objects that are read at the same time. */
const parallel = 8;

/**
 * Returns the bytes of contents in the object store by id, with one read per object. Those whose object is missing are left out. Rejects
 * with ObjectStoreError if the store does not reply.
 */
export async function readFromObjects(
  objects: ObjectStore | null,
  rows: readonly (ContentLocation & { readonly id: string })[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  const groups = [...Map.groupBy(rows, ({ objectKey }) => objectKey)];
  if (groups.length > 0 && objects === null) throw new ObjectStoreError('OBJECT_STORE: not set, but it has bodies of requests');
  for (let at = 0; at < groups.length; at += parallel) {
    const reads = groups.slice(at, at + parallel).map(async ([key, group]) => {
      const start = Math.min(...group.map(({ objectOffset }) => objectOffset));
      const end = Math.max(...group.map(({ objectOffset, objectBytes }) => objectOffset + objectBytes));
      const bytes = await objects?.get(key, { offset: start, length: end - start });
      for (const { id, objectOffset, objectBytes } of bytes ? group : []) {
        found.set(id, bytes?.subarray(objectOffset - start, objectOffset - start + objectBytes) as Uint8Array);
      }
    });
    await Promise.all(reads);
  }
  return found;
}
