import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The tenant: every other row names one. */
export const organisations = defineEntity({
  name: 'Organisation',
  tableName: 'organisations',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Organisation = InferEntity<typeof organisations>;
