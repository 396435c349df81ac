import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { EarlierRecord } from '../../../core/contract/plugin/record/record.ts';

/**
 * Record of one request. The fields that lists filter by are stored beside the whole record. Organisation null: the key was
 * unknown.
 */
export const requestRecords = defineEntity({
  name: 'RequestRecord',
  tableName: 'request_records',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid().nullable(),
    workspaceId: p.uuid().nullable(),
    traceId: p.text(),
    createdAt: p.datetime(),
    status: p.integer(),
    outcome: p.text(),
    provider: p.text().nullable(),
    providerSlug: p.text().nullable(),
    model: p.text().nullable(),
    configSlug: p.text().nullable(),
    apiKeyId: p.text().nullable(),
    /** Null when the price of the model is not known. */
    costMicroUsd: p.bigint('number').nullable(),
    /** Nano-USD beyond `costMicroUsd`, 0 to 999. */
    costNanoRest: p.smallint().default(0),
    /** `model`, `public` or `unknown`. Null if there was nothing to price. */
    priceSource: p.text().nullable(),
    /** Nano-USD that a cached reply saved. Null for other requests, and if the price of the model is not known. */
    savedNano: p.bigint('number').nullable(),
    record: p.json().$type<EarlierRecord>(),
    /** Checkpoint number of a session that has not ended; null: no further record follows. */
    checkpoint: p.bigint('number').nullable(),
  },
});

export type StoredRecord = InferEntity<typeof requestRecords>;
