import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { OrganisationRole, WorkspaceRole } from '../../http/caller/actor.ts';

export const connectionTypes = ['oidc', 'saml'] as const;
export type ConnectionType = (typeof connectionTypes)[number];

export const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;

/** Settings of an OpenID Connect provider, without secrets. */
export interface OidcSettings {
  readonly issuer: string;
  readonly client_id: string;
  readonly token_endpoint_auth_method: (typeof clientAuthMethods)[number];
  readonly scopes: readonly string[];
  /** Name of the claim with the user's groups. */
  readonly group_claim: string;
  readonly id_token_signing_alg: string;
  /** True: an ID token without `email_verified` counts as verified, as with providers that never send the claim. */
  readonly trust_email: boolean;
  /**
   * True: the provider sends users to the callback that all connections share. It must then name itself in `iss` (RFC 9207), so that
   * another provider cannot pass its codes off as its own.
   */
  readonly shared_callback: boolean;
}

/** Rights of the members of a group of the identity provider. */
export interface GroupRule {
  readonly group: string;
  /** Role in the organisation; null: the rule does not set it. */
  readonly role: Exclude<OrganisationRole, 'owner'> | null;
  readonly workspaces: readonly { readonly id: string; readonly role: WorkspaceRole }[];
}

/** A connection with which users of an organisation sign in at an identity provider. */
export const ssoConnections = defineEntity({
  name: 'SsoConnection',
  tableName: 'sso_connections',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    slug: p.text(),
    name: p.text(),
    type: p.text().$type<ConnectionType>(),
    isEnabled: p.boolean(),
    /** `OidcSettings` or `SamlSettings`. */
    settings: p.json().$type<Readonly<Record<string, unknown>>>(),
    groupRules: p.json().$type<readonly GroupRule[]>(),
    /** Secrets by name as JSON, sealed. */
    secrets: p.text().nullable(),
    secretHints: p.json().$type<Record<string, string>>(),
    /** Time of the last look at the SAML metadata of the provider, and why it failed. They do not count as changes. */
    metadataCheckedAt: p.datetime().nullable(),
    metadataError: p.text().nullable(),
    /** End of the validity of the SAML metadata, as the provider states it. Responses are rejected afterwards. */
    metadataValidUntil: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type SsoConnection = InferEntity<typeof ssoConnections>;

/** Returns the settings of a connection of the type `oidc`. */
export function oidcSettingsOf({ settings }: Pick<SsoConnection, 'settings'>): OidcSettings {
  return settings as unknown as OidcSettings;
}

/** A user's account at an identity provider. `(type, issuer, subject)` identifies it; the e-mail does not. */
export const externalIdentities = defineEntity({
  name: 'ExternalIdentity',
  tableName: 'external_identities',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    userId: p.uuid(),
    connectionId: p.uuid(),
    /** OIDC and SAML providers may use one issuer with different subjects. */
    type: p.text().$type<ConnectionType>(),
    issuer: p.text(),
    subject: p.text(),
    /** Workspaces that the group rules gave. Only these are taken away when a group is gone. */
    grantedWorkspaces: p.json().$type<readonly string[]>(),
    createdAt: p.datetime(),
    lastSignInAt: p.datetime(),
  },
});

export type ExternalIdentity = InferEntity<typeof externalIdentities>;

/** A sign-in that has begun: stored between the redirect to the identity provider and its callback. Used once. */
export const signInAttempts = defineEntity({
  name: 'SignInAttempt',
  tableName: 'sign_in_attempts',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    connectionId: p.uuid(),
    /** Hash of the `state` or `RelayState` that the provider returns. */
    stateHash: p.text(),
    /** Hash of the secret in the browser's cookie. */
    browserHash: p.text(),
    /** Data of the protocol as JSON, sealed: nonce, code verifier, request id. */
    secrets: p.text(),
    /** Path of this service to open after the sign-in; null: none. */
    returnTo: p.text().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});

export type SignInAttempt = InferEntity<typeof signInAttempts>;

/** An accepted SAML assertion or logout request. Stores the hash of its id until it has expired. */
export const samlAssertions = defineEntity({
  name: 'SamlAssertion',
  tableName: 'saml_assertions',
  properties: {
    connectionId: p.uuid().primary(),
    assertionHash: p.text().primary(),
    organisationId: p.uuid(),
    expiresAt: p.datetime(),
  },
});
