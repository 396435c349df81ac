import * as v from 'valibot';
import { savedContent } from '../plugin/guardrails/guardrail-config.ts';
import { agentServerDocument } from './agents/agents.ts';
import { publicJwk } from './credentials/key-set.ts';
import { oauthGrantDocument } from './credentials/oauth-token.ts';
import { mappedSecretDocument } from './credentials/secret-reference.ts';
import { signingKeyDocument } from './credentials/signing-key.ts';
import { budgetTypes, rateTypes, rateUnits, resetPeriods } from './limits/limit-kinds.ts';
import { workspacePoliciesDocument } from './limits/policies.ts';
import { mcpConnectionDocument } from './mcp/mcp-connection.ts';
import { mcpEndpointDocument } from './mcp/mcp-virtual.ts';
import { promptDocument, promptPartialDocument } from './prompts.ts';

/** A budget: `creditLimit` in US dollars or tokens by `type`, null for none. `id` names its counters. */
export const usageLimitsDocument = v.object({
  id: v.string(),
  type: v.picklist(budgetTypes),
  creditLimit: v.nullable(v.number()),
  alertThreshold: v.nullable(v.number()),
  periodicReset: v.nullable(v.picklist(resetPeriods)),
  periodicResetDays: v.nullable(v.number()),
  /** ISO time. */
  nextUsageResetAt: v.nullable(v.string()),
  /** Policy if the remaining amount is unknown; absent: deny. */
  onUnavailable: v.optional(v.picklist(['allow', 'deny'])),
});

/** A rate limit; a value of 0 rejects every call. */
export const rateLimitDocument = v.object({
  type: v.picklist(rateTypes),
  unit: v.picklist(rateUnits),
  value: v.number(),
  /** Policy if the remaining amount is unknown; absent: allow. Entries have the format of the API. */
  on_unavailable: v.optional(v.picklist(['allow', 'deny'])),
});

/**
 * Fields of an API key's document that `Identity` carries as they are. Optional: keys of older control planes and callers with a JWT have
 * none. `admin/resources/api-keys/options.ts` fills them.
 */
const keyOptions = {
  /** True: rejects requests whose usage cannot be measured. */
  rejectUnmetered: v.optional(v.boolean()),
};

export const apiKeyDocument = v.object({
  id: v.string(),
  /** Row id of the key (uuid), as used in records. */
  keyId: v.string(),
  /** base64url HMAC-SHA-256 of the secret, see `digestSecret`. */
  digest: v.string(),
  /** During the transition of a rotated key: the old secret's digest and the ISO time until which it is valid. */
  previousDigest: v.optional(v.nullable(v.string())),
  previousExpiresAt: v.optional(v.nullable(v.string())),
  type: v.picklist(['organisation-service', 'workspace-service', 'workspace-user']),
  organisationId: v.string(),
  workspaceId: v.nullable(v.string()),
  userId: v.nullable(v.string()),
  /** Name of that user, for `_user` in metadata. */
  userName: v.optional(v.nullable(v.string())),
  status: v.picklist(['active', 'exhausted', 'expired']),
  scopes: v.array(v.string()),
  /** ISO time, or null for never. */
  expiresAt: v.nullable(v.string()),
  /** ISO time from which the current secret is rejected because the key was not rotated in time; null: never. */
  secretExpiresAt: v.optional(v.nullable(v.string())),
  /** Name of the key, for records and metrics. */
  name: v.optional(v.string()),
  usageLimits: v.optional(v.nullable(usageLimitsDocument)),
  /** ISO time of the last manual reset of its usage. Earlier usage does not count. */
  usageResetAt: v.optional(v.nullable(v.string())),
  rateLimits: v.optional(v.array(rateLimitDocument)),
  ...keyOptions,
  defaults: v.object({
    /** Slug of the config used when the request names none. */
    configSlug: v.nullable(v.string()),
    metadata: v.record(v.string(), v.string()),
    allowConfigOverride: v.boolean(),
  }),
});

export const configDocument = v.object({
  id: v.string(),
  slug: v.string(),
  versionId: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  /** The config object as saved, in the config language of requests. */
  config: v.record(v.string(), v.unknown()),
});

export const providerDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  integrationId: v.string(),
  /** Provider type id: `openai`, `anthropic`, … */
  provider: v.string(),
  status: v.picklist(['active', 'exhausted', 'expired']),
  expiresAt: v.nullable(v.string()),
  /** Non-secret settings under their config names: `custom_host`, `openai_organization`, … */
  settings: v.record(v.string(), v.unknown()),
  /** Extra headers of the integration in documents of older control planes, flat name → value; others leave it empty. */
  customHeaders: v.record(v.string(), v.string()),
  /**
   * JSON of the extra headers of the integration (`{"<name>": "<value>"}`), sealed with the transport key, aad
   * `provider/<id>/headers`; null or absent when there are none.
   */
  headers: v.optional(v.nullable(v.string())),
  /**
   * JSON of the secret settings (`{"api_key": "…", …}`) sealed with the transport key, aad `provider/<id>`; null when the
   * provider needs none. No reply of the internal API carries a plain credential.
   */
  secrets: v.nullable(v.string()),
  /** Values read from secret managers. Each field is either here or among the stored values, never in both. */
  mappedSecrets: v.optional(v.array(mappedSecretDocument)),
  /** Budget and rate limits of the provider itself. */
  usageLimits: v.optional(v.nullable(usageLimitsDocument)),
  usageResetAt: v.optional(v.nullable(v.string())),
  rateLimits: v.optional(v.array(rateLimitDocument)),
  /** Budget and rate limits of its integration in this workspace, shared by all providers made from it. */
  integrationLimits: v.optional(
    v.object({
      usageLimits: v.nullable(usageLimitsDocument),
      usageResetAt: v.nullable(v.string()),
      rateLimits: v.array(rateLimitDocument),
      status: v.picklist(['active', 'exhausted']),
    }),
  ),
  /** Models that may be called, and those with a host of their own; null or absent: all models, at the integration's host. */
  models: v.optional(
    v.nullable(
      v.object({
        /** True if models that are not listed may be called. */
        allowAll: v.boolean(),
        list: v.array(v.object({ slug: v.string(), enabled: v.boolean(), customHost: v.nullable(v.string()) })),
        /**
         * JSON of the headers of models (`{"<slug>": {"<name>": "<value>"}}`), sealed with the transport key, aad
         * `provider/<id>/models`; null when there are none.
         */
        headers: v.nullable(v.string()),
      }),
    ),
  ),
});

/** One version of a saved guardrail. */
export const guardrailDocument = v.object({
  id: v.string(),
  slug: v.string(),
  versionId: v.string(),
  organisationId: v.string(),
  /** Null: it belongs to the organisation, and every workspace can use it. */
  workspaceId: v.nullable(v.string()),
  /** `mcp_tools`: runs on calls of MCP tools, and no config can name it. Absent: `llm`. */
  target: v.optional(v.picklist(['llm', 'mcp_tools'])),
  /** Checks and actions as configs write them. Secret parameters are masks. */
  ...savedContent,
  /**
   * JSON of the secret parameters, by index of the check and JSON pointer (`{"0": {"/headers/authorization": "…"}}`), sealed with the
   * transport key, aad `guardrail/<version id>`; null when there are none.
   */
  secrets: v.nullable(v.string()),
});

export const workspaceDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  /** Slug of the workspace's default config, if it has one. */
  defaultConfigSlug: v.nullable(v.string()),
  metadata: v.record(v.string(), v.string()),
  /** Effective settings of the workspace: its own, or else the organisation's. */
  settings: v.optional(
    v.object({
      /** Requests may use saved configs and stored providers only. */
      blockInlineConfig: v.boolean(),
      /** False: bodies of requests must not be stored. */
      debugLog: v.boolean(),
      /** True: bodies of replies with an error are stored although `debugLog` is false. */
      keepErrorBodies: v.optional(v.boolean()),
      /** True: the header `x-svc-debug` has no effect. */
      ignoreDebugHeader: v.optional(v.boolean()),
      /** Sets `_user` in metadata to the name of the key's owner. With the override, a `_user` from another source is kept. */
      userKeyMetadata: v.boolean(),
      userKeyMetadataOverride: v.boolean(),
      /** Lifetime of cached replies if the config sets none, and its maximum; null: not set. */
      cacheTtlSeconds: v.nullable(v.number()),
      /** Least similarity of hits of the semantic cache; null: the one of the deployment. */
      cacheSimilarityThreshold: v.optional(v.nullable(v.number())),
    }),
  ),
  /** Slugs of the guardrails every request runs: the organisation's (less those the workspace is excluded from), and its own. */
  guardrails: v.optional(
    v.object({
      organisationStart: v.optional(v.array(v.string()), []),
      start: v.optional(v.array(v.string()), []),
      organisationInput: v.array(v.string()),
      organisationOutput: v.array(v.string()),
      input: v.array(v.string()),
      output: v.array(v.string()),
    }),
  ),
  /** Ids of the guardrails that every call of an MCP tool runs; absent: none. */
  toolGuardrails: v.optional(v.object({ input: v.array(v.string()), output: v.array(v.string()) })),
  usageLimits: v.optional(v.array(usageLimitsDocument)),
  rateLimits: v.optional(v.array(rateLimitDocument)),
  /** True: rejects requests whose usage cannot be measured. */
  rejectUnmetered: v.optional(v.boolean()),
  /** True if the workspace has, or once had, policies: see `workspace-policies`. */
  hasPolicies: v.optional(v.boolean()),
  /** Counts the purges of its cache: part of the key of each entry. */
  cachePurges: v.optional(v.number()),
  /** Counts the purges of single entries and namespaces: gateways read entries that they stored in memory earlier again. */
  cacheGeneration: v.optional(v.number()),
});

/** The catalogue of a workspace: the models of each provider that its keys can use. */
export const workspaceModelsDocument = v.object({
  id: v.string(),
  organisationId: v.string(),
  providers: v.array(
    v.object({
      slug: v.string(),
      /** Provider type id. */
      provider: v.string(),
      models: v.array(
        v.object({
          slug: v.string(),
          /** The maker's name of the model, if it differs from the slug. */
          canonicalSlug: v.optional(v.nullable(v.string()), null),
          /** Unix seconds; 0 = unknown. */
          created: v.optional(v.number(), 0),
        }),
      ),
    }),
  ),
});

export const workspaceNameDocument = v.object({ id: v.string(), organisationId: v.string(), workspaceId: v.string() });

/** An organisation's rules for the JWTs it signs. */
export const organisationDocument = v.object({
  id: v.string(),
  jwt: v.object({
    /** URLs of its key sets; empty if the keys are listed here. */
    urls: v.array(v.string()),
    keys: v.array(publicJwk),
    /** Required values of `iss` and `aud`; null: any value. */
    issuer: v.nullable(v.string()),
    audience: v.nullable(v.string()),
    /** Seconds a token may live; null: any time. */
    maxTtlSeconds: v.optional(v.nullable(v.number()), null),
  }),
});

/** The user of an e-mail in an organisation, and the models' scopes of the user's role in each workspace. */
export const userDocument = v.object({
  id: v.string(),
  organisationId: v.string(),
  user: v.nullable(
    v.object({
      id: v.string(),
      name: v.string(),
      /** Scopes of owners and admins, in every workspace; null for other users. */
      everywhere: v.nullable(v.array(v.string())),
      /** By workspace id. */
      places: v.record(v.string(), v.array(v.string())),
    }),
  ),
  /** Milliseconds since 1970 at which the last user with this e-mail was removed. Absent if there is a user, or never was one. */
  removedAtMs: v.optional(v.number()),
});

/**
 * Documents through which a gateway reads the control plane's data: one per entity. A gateway fetches a document on demand by
 * kind and id, and discards it when a change notice names it. Documents come from our own database, but they are input: gateways
 * validate them on arrival.
 *
 * | kind | id |
 * |---|---|
 * | `api-key` | public id of the key (12 characters) |
 * | `config` | `<workspace id>/<slug>`; `<workspace id>/<id>` holds only the slug, because no change notice names that id |
 * | `provider` | `<workspace id>/<slug>` |
 * | `guardrail` | `<workspace id or organisation id>/<slug or id>`, and `…/<id>/<version id>` for one version |
 * | `prompt`, `prompt-partial` | `<workspace id>/<slug or id>`, if shared also `<organisation id>/<slug or id>`; `…/<id>/<number>` holds one version |
 * | `mcp-server` | `<workspace id>/<slug>`; a server or a virtual server |
 * | `agent-server` | `<workspace id>/<slug>` |
 * | `mcp-connection` | `<server id>/<user id>`, or `<server id>/shared` |
 * | `signing-key` | `mcp` |
 * | `oauth-grant` | id of the grant |
 * | `workspace` | workspace id |
 * | `workspace-models` | workspace id; changes with every `provider` of the workspace |
 * | `workspace-policies` | workspace id; read only if the workspace document has `hasPolicies` |
 * | `workspace-name` | `<organisation id>/<slug>`; JWTs name workspaces this way |
 * | `organisation` | organisation id; exists only if JWT authentication is enabled for the organisation |
 * | `user` | `<organisation id>/<e-mail in lower case>`, see `userDocumentId`; exists for every e-mail, so that unknown users are cached too |
 */
export const documentSchemas = {
  'api-key': apiKeyDocument,
  config: configDocument,
  provider: providerDocument,
  guardrail: guardrailDocument,
  prompt: promptDocument,
  'prompt-partial': promptPartialDocument,
  'mcp-server': mcpEndpointDocument,
  'mcp-connection': mcpConnectionDocument,
  'agent-server': agentServerDocument,
  'signing-key': signingKeyDocument,
  'oauth-grant': oauthGrantDocument,
  workspace: workspaceDocument,
  'workspace-models': workspaceModelsDocument,
  'workspace-policies': workspacePoliciesDocument,
  'workspace-name': workspaceNameDocument,
  organisation: organisationDocument,
  user: userDocument,
} as const;
export type DocumentKind = keyof typeof documentSchemas;
export type DocumentOf = { readonly [Kind in DocumentKind]: v.InferOutput<(typeof documentSchemas)[Kind]> };

/** All kinds of documents. */
export const documentKinds = Object.keys(documentSchemas) as readonly DocumentKind[];

export type UsageLimitsDocument = v.InferOutput<typeof usageLimitsDocument>;
export type RateLimitDocument = v.InferOutput<typeof rateLimitDocument>;
/** See `keyOptions`. */
export type KeyOptions = Partial<{ readonly [K in keyof typeof keyOptions]: v.InferOutput<(typeof keyOptions)[K]> }>;
export type ApiKeyDocument = v.InferOutput<typeof apiKeyDocument>;
export type ConfigDocument = v.InferOutput<typeof configDocument>;
export type GuardrailDocument = v.InferOutput<typeof guardrailDocument>;
export type ProviderDocument = v.InferOutput<typeof providerDocument>;
export type WorkspaceModelsDocument = v.InferOutput<typeof workspaceModelsDocument>;
export type WorkspaceDocument = v.InferOutput<typeof workspaceDocument>;
export type WorkspaceNameDocument = v.InferOutput<typeof workspaceNameDocument>;
export type OrganisationDocument = v.InferOutput<typeof organisationDocument>;
export type UserDocument = v.InferOutput<typeof userDocument>;

/** Returns the options of a key. */
export function keyOptionsOf(document: ApiKeyDocument): KeyOptions {
  return Object.fromEntries(Object.keys(keyOptions).map((name) => [name, document[name as keyof KeyOptions]]));
}
