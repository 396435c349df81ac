import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A file of the service's own store. Its bytes are stored in separate chunks. */
export const storedFiles = defineEntity({
  name: 'StoredFile',
  tableName: 'stored_files',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    createdByKey: p.uuid().nullable(),
    createdByUser: p.uuid().nullable(),
    filename: p.text(),
    purpose: p.text(),
    contentType: p.text(),
    bytes: p.bigint('number'),
    /** `uploading` until the last byte is stored. A file is not visible before that. */
    status: p.text().$type<'uploading' | 'processed'>(),
    createdAt: p.datetime(),
    expiresAt: p.datetime().nullable(),
  },
});

/** A piece of a file, at most 256 KiB. */
export const storedFileChunks = defineEntity({
  name: 'StoredFileChunk',
  tableName: 'stored_file_chunks',
  properties: {
    fileId: p.uuid().primary(),
    number: p.integer().primary(),
    organisationId: p.uuid(),
    bytes: p.blob(),
  },
});

export type StoredFile = InferEntity<typeof storedFiles>;
