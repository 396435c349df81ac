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
    /** A `RecordContent` as JSON, compressed and then sealed. */
    content: p.blob(),
  },
});
