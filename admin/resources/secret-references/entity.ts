import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { SecretManagerType } from '../../../core/contract/protocol/credentials/secret-reference.ts';

/** Location of an external secret, the credentials for it, and the workspaces that may use it. */
export const secretReferences = defineEntity({
  name: 'SecretReference',
  tableName: 'secret_references',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    description: p.text().nullable(),
    managerType: p.text().$type<SecretManagerType>(),
    /** The public part of `auth_config`, under its wire names. */
    auth: p.json().$type<Record<string, string>>(),
    /** JSON of the secret part, sealed by the organisation's data key; null if there is none. */
    secrets: p.text().nullable(),
    /** Last characters of each secret by its name, for masked reads. */
    secretHints: p.json().$type<Record<string, string>>(),
    /** Name, ARN or path of the secret, in the manager's terms. */
    secretPath: p.text(),
    /** Name of the value in a secret with several values, if a mapping names none. */
    secretKey: p.text().nullable(),
    allowAllWorkspaces: p.boolean(),
    /** Ids of the workspaces that may use it, unless all may. */
    allowedWorkspaces: p.json().$type<string[]>(),
    tags: p.json().$type<Record<string, string>>(),
    /** A user or a key. */
    createdBy: p.uuid(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type SecretReference = InferEntity<typeof secretReferences>;
