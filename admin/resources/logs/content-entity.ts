import { defineEntity, p } from '@mikro-orm/core';

/** Headers and bodies of one request. Has the id and time of its record. */
export const recordContents = defineEntity({
  name: 'RecordContent',
  tableName: 'record_contents',
  properties: {
    id: p.uuid().primary(),
    createdAt: p.datetime(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    /** A `RecordContent` as JSON, compressed and then sealed. Empty if it is in the object store. */
    content: p.blob(),
    /** Location of the content in the object store; null: it is in `content`. */
    objectKey: p.text().nullable(),
    objectOffset: p.integer().nullable(),
    objectBytes: p.integer().nullable(),
    /** True while the content waits in the row for the object store. */
    waits: p.boolean().default(false),
  },
});
