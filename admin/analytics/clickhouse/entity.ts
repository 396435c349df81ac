import { defineEntity, p } from '@mikro-orm/core';

/** Records that wait to be copied to ClickHouse: one row per batch, as lines of JSON. */
export const recordCopies = defineEntity({
  name: 'RecordCopy',
  tableName: 'record_copies',
  properties: {
    /** Also the version of the copied rows: of two copies of a record, ClickHouse keeps the later one. */
    id: p.bigint('number').primary(),
    lines: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    /** Error of ClickHouse, if it refused this batch but accepted others: the batch is not sent again. Null: it waits. */
    refusedFor: p.text().nullable(),
  },
});
