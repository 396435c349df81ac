import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OrganisationRole } from '../../http/caller/actor.ts';

/** Attributes that only directories read and write, in the form in which they are shown. */
export interface DirectoryAttributes {
  displayName?: string;
  title?: string;
  /** The full name. */
  formatted?: string;
  emails?: { value: string; type?: string; primary?: boolean }[];
}

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
    /** Set: the directory has deactivated the user. */
    deactivatedAt: p.datetime().nullable(),
    /** `userName` of the directory. Null: the directory has not provisioned the user, and the e-mail stands for it. */
    userName: p.text().nullable(),
    /** The id of the directory. */
    externalId: p.text().nullable(),
    /** Further attributes of the directory. */
    directory: p.json().$type<DirectoryAttributes>().nullable().lazy(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
  // Queries omit deactivated users by default, so that no sign-in method has to check for them.
  filters: { active: { name: 'active', cond: { deactivatedAt: null }, default: true } },
});

/** The time at which the last user with an e-mail was removed, for JWTs that name the e-mail. Stores only a hash of it. */
export const removedUsers = defineEntity({
  name: 'RemovedUser',
  tableName: 'removed_users',
  properties: {
    organisationId: p.uuid().primary(),
    emailHash: p.text().primary(),
    removedAt: p.datetime(),
  },
});

/** Option of queries that also return deactivated users. */
export const withDeactivated = { filters: { active: false } } as const;

export type User = InferEntity<typeof users>;
