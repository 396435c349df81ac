import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A job that prices stored records again, with its progress. */
export const repricings = defineEntity({
  name: 'Repricing',
  tableName: 'repricings',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    fromAt: p.datetime(),
    toAt: p.datetime(),
    status: p.text().$type<'in_progress' | 'success'>(),
    /** Records that were read, and those whose cost changed. */
    recordsRead: p.bigint('number'),
    recordsChanged: p.bigint('number'),
    /** Sum of all differences in nano-USD. */
    differenceNano: p.bigint('number'),
    /** The last record that was read; null at the beginning. */
    lastAt: p.text().nullable(),
    lastId: p.uuid().nullable(),
    createdAt: p.datetime(),
    finishedAt: p.datetime().nullable(),
  },
});

export type Repricing = InferEntity<typeof repricings>;
