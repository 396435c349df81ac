import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { JwtSettings } from '../../identity/jwt/schema.ts';
import type { SecuritySettings } from './setting-sections.ts';

/** Settings that both an organisation and a workspace can have. Missing: not set. */
export interface SharedSettings {
  /** 1: requests are logged in full, 0: only their statistics. */
  debug_log?: 0 | 1;
  /** 1: the bodies of replies with an error are stored also if `debug_log` is 0. */
  debug_log_error_body?: 0 | 1;
  /** Days. */
  user_api_key_rotation_period?: number | null;
  /** Maximum lifetime of a user's key in seconds, and its lifetime if the request names none. */
  user_api_key_ttl?: number | null;
  /** Maximum number of keys of one user in one workspace. */
  user_api_key_count?: number | null;
  user_api_key_auto_create?: boolean;
  user_api_key_auto_create_scopes?: string[];
}

export interface OrganisationSettings extends SharedSettings {
  /** 1: gateways ignore the header `x-svc-debug`. */
  enforce_debug_log_setting?: 0 | 1;
  default_workspace_user_api_key_auto_create?: boolean;
  /** Days after which records of requests are deleted with all that belongs to them; null or more than RECORD_RETENTION_DAYS: that many. */
  log_retention_days?: number | null;
  /** Days after which headers and bodies of requests are deleted; records stay. Null: with their records. */
  log_body_retention_days?: number | null;
  /** Seconds: cache lifetime of replies if a config sets none, and its maximum. */
  cache_ttl?: number | null;
  /** Least similarity of hits of the semantic cache, 0 to 1. Deployments and configs can only raise it. */
  cache_similarity_threshold?: number | null;
  /** JSON schemas that metadata of new and changed keys and workspaces must meet. */
  api_key_metadata_schema?: Record<string, unknown> | null;
  workspace_metadata_schema?: Record<string, unknown> | null;
}

export interface DataPlaneSecuritySettings {
  block_inline_config?: boolean;
}

export interface ExportSettings {
  deniedFields?: string[];
}

/** `groups`: `members` of groups. `users`: `groups` of users. */
export const scimMembershipModes = ['groups', 'users'] as const;

export interface AuthSettings {
  session_settings?: {
    /** Seconds, at least 900. */
    max_session_ttl?: number | null;
  };
  allowed_email_domains?: { domain: string; allow_subdomains: boolean }[];
  /** Single sign-on creates no users: they need an invite. */
  disable_auto_provision_user?: boolean;
  /** Passwords are for owners only, in case the identity provider fails. */
  require_sso?: boolean;
  /** True: users with a password must have a second factor. */
  require_second_factor?: boolean;
  /** Groups of directories. */
  scim?: {
    /** Beginning of the group names that stand for a workspace and a role. */
    workspace_prefix?: string;
    /** Text between the workspace and the role. */
    role_separator?: string;
    /** Deactivated users become active when a group receives them. */
    group_based_user_provisioning?: boolean;
    /** Which resource of the directory gives memberships of groups. Absent: groups. */
    membership_mode?: (typeof scimMembershipModes)[number];
  };
  /** JWTs that the organisation signs itself. */
  jwt?: JwtSettings | null;
}

export interface GuardrailReference {
  id: string;
  slug: string;
}

/** The organisation's guardrails that every workspace runs, unless it is excluded. */
export interface OrganisationDefaults {
  start_hooks?: GuardrailReference[];
  input_guardrails: GuardrailReference[];
  output_guardrails: GuardrailReference[];
}

/** Name of the list of each side in the defaults of organisations and workspaces. */
export const defaultsKeys = { start: 'start_hooks', input: 'input_guardrails', output: 'output_guardrails' } as const;

/** The tenant: every other row names one. */
export const organisations = defineEntity({
  name: 'Organisation',
  tableName: 'organisations',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    settings: p.json().$type<OrganisationSettings>().nullable(),
    securitySettings: p.json().$type<Partial<SecuritySettings>>().nullable(),
    dataPlaneSecuritySettings: p.json().$type<DataPlaneSecuritySettings>().nullable(),
    exportSettings: p.json().$type<ExportSettings>().nullable(),
    authSettings: p.json().$type<AuthSettings>().nullable(),
    /** Names of the sections that workspaces may override. */
    overrides: p.json().$type<string[]>().nullable(),
    defaults: p.json().$type<OrganisationDefaults>().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type Organisation = InferEntity<typeof organisations>;
