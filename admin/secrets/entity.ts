import { defineEntity, p } from '@mikro-orm/core';

/** The key that seals one organisation's credentials, itself sealed by the master key. */
export const dataKeys = defineEntity({
  name: 'DataKey',
  tableName: 'data_keys',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    version: p.integer(),
    wrapped: p.text(),
    createdAt: p.datetime(),
  },
});
