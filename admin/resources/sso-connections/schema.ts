import * as v from 'valibot';
import { oneOf } from '../../../core/contract/values/text/one-of.ts';
import { workspaceRoles } from '../../http/caller/actor.ts';
import { listOf, nullableText, time, uuid } from '../../http/reply/reply-schemas.ts';
import { id, idOrSlug, name, pageEntries, slug, tenantEntries, unchanged } from '../../http/request/schemas.ts';
import { clientAuthMethods, connectionTypes } from './entity.ts';
import { samlChange, samlReply } from './saml-schema.ts';

const shortText = (message: string) => v.pipe(v.string(), v.regex(/^[^\u0000-\u0020\u007f]{1,512}$/, message));

const issuer = v.pipe(
  v.string(),
  v.maxLength(512, 'at most 512 characters'),
  v.metadata({ jsonSchema: { type: 'string', format: 'uri', maxLength: 512 } }),
  v.check(
    (text) => URL.parse(text) !== null && !/[?#]/.test(text),
    'a URL such as https://id.example.com/realms/main is expected, without query and fragment',
  ),
);

const scope = shortText('a scope without spaces is expected');

/** Algorithms of ID tokens. `none` and the symmetric ones are not accepted. */
const signingAlgorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

const secret = v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(4_096, 'at most 4,096 characters'));

const oidcEntries = {
  issuer,
  client_id: shortText('a client id without spaces is expected'),
  token_endpoint_auth_method: v.picklist(clientAuthMethods),
  scopes: v.pipe(
    v.array(scope),
    v.maxLength(50, 'at most 50 scopes'),
    v.check((scopes) => scopes.includes('openid'), 'must contain openid'),
  ),
  group_claim: shortText('the name of a claim is expected'),
  id_token_signing_alg: v.picklist(signingAlgorithms),
  trust_email: v.boolean(),
  shared_callback: v.boolean(),
};

const oidcBody = v.strictObject({
  ...oidcEntries,
  client_secret: v.nullish(secret),
  token_endpoint_auth_method: v.optional(oidcEntries.token_endpoint_auth_method, 'client_secret_basic'),
  scopes: v.optional(oidcEntries.scopes, ['openid', 'profile', 'email']),
  group_claim: v.optional(oidcEntries.group_claim, 'groups'),
  id_token_signing_alg: v.optional(oidcEntries.id_token_signing_alg, 'RS256'),
  trust_email: v.optional(v.boolean(), false),
  shared_callback: v.optional(v.boolean(), false),
});

/** Sent fields replace those of the connection. */
const oidcChange = v.partial(v.strictObject({ ...oidcEntries, client_secret: v.nullish(secret) }));
export type OidcChange = v.InferOutput<typeof oidcChange>;

const workspaceRole = oneOf(workspaceRoles);
const groupRules = v.pipe(
  v.array(
    v.strictObject({
      group: v.pipe(v.string(), v.minLength(1, 'must not be empty'), v.maxLength(512, 'at most 512 characters')),
      role: v.optional(v.nullable(oneOf(['admin', 'member'])), null),
      workspaces: v.optional(
        v.pipe(v.array(v.strictObject({ id: idOrSlug, role: workspaceRole })), v.maxLength(500, 'at most 500 workspaces')),
        [],
      ),
    }),
  ),
  v.maxLength(500, 'at most 500 rules'),
);

export const createBody = v.strictObject({
  organisation_id: v.optional(id),
  name,
  slug: v.optional(slug),
  type: oneOf(connectionTypes),
  enabled: v.optional(v.boolean(), true),
  /** Settings of the type of the connection; exactly one of the two. */
  oidc: v.optional(oidcBody),
  saml: v.optional(samlChange),
  group_rules: v.optional(groupRules, []),
});
export type CreateBody = v.InferOutput<typeof createBody>;

export const updateBody = v.strictObject({
  organisation_id: v.optional(id),
  name: v.optional(name),
  slug: unchanged,
  type: v.optional(v.picklist(connectionTypes)),
  enabled: v.optional(v.boolean()),
  oidc: v.optional(oidcChange),
  saml: v.optional(samlChange),
  group_rules: v.optional(groupRules),
});
export type UpdateBody = v.InferOutput<typeof updateBody>;

export const listQuery = v.strictObject({ organisation_id: tenantEntries.organisation_id, ...pageEntries });

const oidcReply = v.strictObject({
  ...oidcEntries,
  issuer: v.string(),
  /** Masked; null if there is none. */
  client_secret: nullableText,
  /** True during a rotation, before and after the activation of the new key. */
  has_next_key: v.boolean(),
  has_previous_key: v.boolean(),
  /** The address that the provider sends users back to. */
  redirect_uri: v.string(),
  /** Addresses to register at the provider for logout, and our public keys for `private_key_jwt`. */
  post_logout_redirect_uri: v.string(),
  backchannel_logout_uri: v.string(),
  jwks_uri: v.string(),
});

export const readReply = v.strictObject({
  id: uuid,
  slug: v.string(),
  name: v.string(),
  type: v.picklist(connectionTypes),
  enabled: v.boolean(),
  oidc: v.nullable(oidcReply),
  saml: v.nullable(samlReply),
  group_rules: v.array(
    v.strictObject({
      group: v.string(),
      role: v.nullable(v.picklist(['admin', 'member'])),
      workspaces: v.array(v.strictObject({ id: uuid, role: v.picklist(workspaceRoles) })),
    }),
  ),
  organisation_id: uuid,
  created_at: time,
  last_updated_at: time,
  object: v.literal('sso-connection'),
});
export const listReply = listOf(readReply);
export const createReply = v.strictObject({ id: uuid, slug: v.string(), object: v.literal('sso-connection') });
