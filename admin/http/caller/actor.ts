import type { ApiKeyType } from '../../../core/contract/values/credentials/api-key.ts';

export const organisationRoles = ['owner', 'admin', 'member'] as const;
export type OrganisationRole = (typeof organisationRoles)[number];

export const workspaceRoles = ['admin', 'manager', 'member', 'viewer'] as const;
export type WorkspaceRole = (typeof workspaceRoles)[number];

/** The caller of an admin route: an API key, a JWT or a signed-in user. Holds no secret. */
export interface Actor {
  /** Row id of the key, or of the session. */
  readonly keyId: string;
  /** Key type that the scopes belong to. Users have the type of key with the same reach. */
  readonly type: ApiKeyType;
  readonly organisationId: string;
  /** Null for organisation keys. */
  readonly workspaceId: string | null;
  readonly userId: string | null;
  readonly scopes: ReadonlySet<string>;
  /** Subject of the JWT, for actors with a JWT. */
  readonly tokenSubject?: string | null;
  /** Set for sessions. */
  readonly session?: SignedIn;
  /** An owner of the organisation, or its key of the first start: only they may manage owners. */
  readonly actsAsOwner?: boolean;
}

/** A signed-in user and the workspaces they can choose from. Holds no secret. */
export interface SignedIn {
  readonly userId: string;
  readonly role: OrganisationRole;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Workspaces of a plain member, with their scopes there. Empty for owners and admins, who can use all workspaces. */
  readonly memberships: ReadonlyMap<string, { readonly role: WorkspaceRole; readonly scopes: ReadonlySet<string> }>;
}

/** The fields of an actor that audit entries contain. `keyId` null: the credential is unknown. */
export type AuditActor = Pick<Actor, 'organisationId' | 'userId' | 'tokenSubject'> & { readonly keyId: string | null };
