import { defineEntity, p } from '@mikro-orm/core';

/** A job that one control plane runs at a time and that is retried until it succeeds. */
export const jobs = defineEntity({
  name: 'Job',
  tableName: 'jobs',
  properties: {
    id: p.uuid().primary(),
    /** Kind of its handler. */
    kind: p.text(),
    /** Identifies the job among those of its kind. Adding it again has no effect. */
    key: p.text(),
    organisationId: p.uuid().nullable(),
    payload: p.json().$type<Record<string, unknown>>(),
    runAt: p.datetime(),
    /** Current lease of the job, and the time until which no other process may take it. */
    leaseId: p.uuid().nullable(),
    leasedUntil: p.datetime().nullable(),
    /** Consecutive failures. */
    attempts: p.integer(),
    lastError: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
