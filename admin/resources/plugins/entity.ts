import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** The credentials of an organisation at a partner whose service decides guardrail checks. */
export const plugins = defineEntity({
  name: 'Plugin',
  tableName: 'plugins',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Prefix of the ids of the partner's checks: `lakera` of `lakera.guard`. */
    partner: p.text(),
    name: p.text().nullable(),
    status: p.text().$type<'active' | 'archived'>(),
    /** JSON of the credentials by name, sealed by the organisation's data key; null when there are none. */
    secrets: p.text().nullable(),
    /** Last characters of each credential by its name, for masked reads. */
    secretHints: p.json().$type<Record<string, string>>(),
    ownerId: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Plugin = InferEntity<typeof plugins>;
