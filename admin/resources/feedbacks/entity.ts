import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** A rating of the calls of a trace, sent by an application or written by a guardrail. */
export const feedbacks = defineEntity({
  name: 'Feedback',
  tableName: 'feedbacks',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    workspaceId: p.uuid(),
    traceId: p.text(),
    /** −10 to 10. */
    value: p.smallint(),
    /** 0 to 1: its share in averages. */
    weight: p.float(),
    metadata: p.json().$type<Readonly<Record<string, unknown>>>(),
    /** Id of the guardrail; null: sent by an application. */
    guardrailId: p.text().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Increases with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Feedback = InferEntity<typeof feedbacks>;
