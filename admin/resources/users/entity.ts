import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OrganisationRole } from '../../http/actor.ts';

/** A user in one organisation. The same e-mail in two organisations is two unrelated rows. */
export const users = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Lower case; one per organisation. */
    email: p.text(),
    emailVerifiedAt: p.datetime().nullable(),
    firstName: p.text().nullable(),
    lastName: p.text().nullable(),
    role: p.text().$type<OrganisationRole>(),
    /** See `identity/passwords.ts`; null: cannot sign in with a password yet. */
    passwordHash: p.text().nullable().lazy(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type User = InferEntity<typeof users>;
