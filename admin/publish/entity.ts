import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { DocumentKind } from '../../core/contract/protocol/documents.ts';

/** The log of changes: one row per changed document, in commit order, without a gap. */
export const outbox = defineEntity({
  name: 'OutboxEvent',
  tableName: 'outbox',
  properties: {
    revision: p.bigint('number').primary(),
    organisationId: p.uuid(),
    kind: p.text().$type<DocumentKind>(),
    documentId: p.text(),
    op: p.text().$type<'upsert' | 'delete'>(),
    createdAt: p.datetime(),
    publishedAt: p.datetime().nullable(),
  },
});

export type OutboxEvent = InferEntity<typeof outbox>;
