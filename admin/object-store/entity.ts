import { defineEntity, p } from '@mikro-orm/core';

/** An object in the object store. The row precedes the object, so that every object is deleted at some time. */
export const storedObjects = defineEntity({
  name: 'StoredObject',
  tableName: 'stored_objects',
  properties: {
    key: p.text().primary(),
    organisationId: p.uuid(),
    createdAt: p.datetime(),
    /** True when the object has arrived in the store. */
    isStored: p.boolean().default(false),
    /** The export that the object belongs to; null for bodies of logs. */
    exportId: p.uuid().nullable(),
    /** Time of the newest request whose bodies the object contains; null for exports. */
    newestAt: p.datetime().nullable(),
    /** Set when the object is to be deleted. The row is deleted after it. */
    deletedAt: p.datetime().nullable(),
  },
});
