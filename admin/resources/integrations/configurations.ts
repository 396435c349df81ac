import * as v from 'valibot';
import { bucketPattern } from '../../../core/contract/provider/provider-settings.ts';
import { validate } from '../../http/validate.ts';
import { isMasked } from '../../secrets/sealed-fields.ts';

/**
 * Settings of an integration by provider type (control-plane reference §1.1). `secrets` and `headers` are sealed; `settings` are
 * plain. What is in neither is refused with its path.
 */
export interface SplitConfigurations {
  readonly settings: Record<string, unknown>;
  readonly secrets: Record<string, string>;
  /** Headers, as they were sent; undefined where nothing was said of them. */
  readonly headers: Readonly<Record<string, string>> | null | undefined;
}

/** Checks the settings and tells secret from plain. `null` values clear a setting and are kept as null. */
export function splitConfigurations(aiProviderId: string, sent: Record<string, unknown>): SplitConfigurations {
  const known = { ...everyProvider, ...(byProvider[aiProviderId] ?? {}) };
  const entries = Object.fromEntries(Object.entries(known).map(([key, kind]) => [key, v.nullish(kind.schema)]));
  const all = validate(v.strictObject(entries), sent, 'configurations', 'configurations') as Record<string, unknown>;
  const { custom_headers: headers, ...checked } = all;
  const settings: Record<string, unknown> = {};
  const secrets: Record<string, string> = {};
  for (const [key, value] of Object.entries(checked)) {
    if (value === undefined) continue;
    if (!known[key]?.secret) settings[key] = value;
    else if (value === null) secrets[key] = '';
    else if (typeof value !== 'string') secrets[key] = JSON.stringify(value);
    else if (!isMasked(value)) secrets[key] = value;
  }
  return { settings, secrets, headers: headers as SplitConfigurations['headers'] };
}

/**
 * Settings whose values may be kept in a secret manager, and whether each is a credential: texts only, and no address, bucket or way to
 * authenticate. Those are checked where they are sent.
 */
export function mappableSettings(aiProviderId: string): Map<string, boolean> {
  const known = Object.entries({ ...everyProvider, ...(byProvider[aiProviderId] ?? {}) });
  return new Map(known.flatMap(([key, kind]) => (kind.secret || kind === text ? [[key, kind.secret]] : [])));
}

interface Kind {
  readonly schema: v.GenericSchema;
  readonly secret: boolean;
}

const short = v.pipe(v.string(), v.minLength(1), v.maxLength(1_024));
const text: Kind = { schema: short, secret: false };
const secret: Kind = { schema: v.pipe(v.string(), v.minLength(1), v.maxLength(16_384)), secret: true };
const flag: Kind = { schema: v.boolean(), secret: false };
const url: Kind = {
  schema: v.pipe(
    v.string(),
    v.maxLength(2_048),
    v.check(isHttpUrl, 'must be an http or https URL without user, password or fragment'),
  ),
  secret: false,
};

/** A service account file: its JSON, as object or text. */
const jsonSecret: Kind = {
  schema: v.union([v.record(v.string(), v.unknown()), v.pipe(v.string(), v.maxLength(16_384))]),
  secret: true,
};

const bucket: Kind = { schema: v.pipe(v.string(), v.regex(bucketPattern, 'the name of a bucket is expected')), secret: false };

const refusedHeaders =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|cookie|proxy-.*|x-svc-.*|svc-internal-.*)$/i;
/** They carry the integration's own credential. */
const credentialHeaders = /^(authorization|api-key|x-api-key)$/i;
const anyHeaderName = v.pipe(
  v.string(),
  v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'not a header name'),
  v.check((value) => !refusedHeaders.test(value), 'this header is set by the gateway and cannot be given'),
);
const headerName = v.pipe(
  anyHeaderName,
  v.check((value) => !credentialHeaders.test(value), 'this header is set by the gateway and cannot be given'),
);
const headerValue = v.pipe(v.string(), v.maxLength(4_096), v.regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'not a header value'));
const headers: Kind = { schema: v.record(headerName, headerValue), secret: false };

/** Headers of one model: its host may want another credential than the integration's, so these may be given too. */
export const modelHeaders = v.pipe(
  v.record(anyHeaderName, headerValue),
  v.check((value) => Object.keys(value).length <= 50, 'at most 50 headers'),
);

const everyProvider: Readonly<Record<string, Kind>> = {
  custom_host: url,
  custom_headers: headers,
  provider_auth_type: {
    schema: v.picklist(['oauthClientCredentials', 'wif'], 'oauthClientCredentials or wif is expected'),
    secret: false,
  },
  oauth_token_endpoint: url,
  oauth_client_id: text,
  oauth_client_secret: secret,
  oauth_scope: text,
  use_responses_api: flag,
  /** True if the integration is incomplete without `key`; checked by `requireSettings`. */
  is_key_required: flag,
};

const azureIdentity: Readonly<Record<string, Kind>> = {
  azure_auth_mode: {
    schema: v.picklist(
      ['default', 'entra', 'managed', 'workload', 'entraFederated'],
      'one of default, entra, managed, workload, entraFederated',
    ),
    secret: false,
  },
  azure_entra_tenant_id: text,
  azure_entra_client_id: text,
  azure_entra_client_secret: secret,
  azure_managed_client_id: text,
  azure_workload_client_id: text,
  azure_workload_tenant_id: text,
};

const aws: Readonly<Record<string, Kind>> = {
  aws_auth_type: {
    schema: v.picklist(
      ['accessKey', 'assumedRole', 'serviceRole', 'apiKey'],
      'one of accessKey, assumedRole, serviceRole, apiKey',
    ),
    secret: false,
  },
  aws_region: text,
  aws_access_key_id: secret,
  aws_secret_access_key: secret,
  aws_role_arn: text,
  aws_external_id: text,
  aws_session_tags: {
    schema: v.pipe(short, v.regex(/^[^,=]+(=[^,=]+)?(,[^,=]+(=[^,=]+)?)*$/, 'a comma list of metadata keys, or tag=key')),
    secret: false,
  },
};

/** What batches of lines in OpenAI's form are told where neither their body nor a header says it. */
const batches: Readonly<Record<string, Kind>> = { provider_model: text, provider_batch_endpoint: text };

const stabilityClient: Kind = {
  schema: v.pipe(v.string(), v.maxLength(256), v.regex(/^[ -~]*$/, 'visible ASCII characters are expected')),
  secret: false,
};

const deployment = v.strictObject({
  azure_deployment_name: short,
  azure_api_version: v.pipe(v.string(), v.minLength(1), v.maxLength(30)),
  azure_model_slug: short,
  alias: v.optional(short),
  is_default: v.optional(v.boolean()),
});

const deployments = v.pipe(
  v.array(deployment),
  v.minLength(1, 'at least one deployment'),
  v.maxLength(500, 'at most 500 deployments'),
  v.check((rows) => rows.filter((row) => row.is_default).length <= 1, 'at most one deployment can be the default'),
  v.check((rows) => {
    const names = rows.map((row) => row.alias ?? row.azure_deployment_name);
    return new Set(names).size === names.length;
  }, 'the same alias twice'),
);

const byProvider: Readonly<Record<string, Readonly<Record<string, Kind>>>> = {
  openai: { openai_organization: text, openai_project: text, wif_identity_provider_id: text, wif_service_account_id: text },
  anthropic: {
    ...{ wif_federation_rule_id: text, wif_organization_id: text, wif_service_account_id: text, wif_workspace_id: text },
    anthropic_version: text,
    anthropic_beta: text,
    anthropic_inspect_stream_for_overloaded_error: flag,
  },
  'azure-openai': {
    ...azureIdentity,
    azure_resource_name: text,
    azure_deployment_config: { schema: deployments, secret: false },
  },
  'azure-ai': {
    ...azureIdentity,
    azure_foundry_url: url,
    azure_api_version: text,
    azure_deployment_name: text,
    azure_deployment_type: { schema: v.picklist(['serverless', 'managed'], 'serverless or managed is expected'), secret: false },
    azure_endpoint_name: text,
    azure_region: text,
  },
  bedrock: {
    ...aws,
    ...batches,
    aws_s3_bucket: bucket,
    aws_bedrock_model: text,
    amz_server_side_encryption: {
      schema: v.picklist(['AES256', 'aws:kms', 'aws:kms:dsse'], 'one of AES256, aws:kms, aws:kms:dsse'),
      secret: false,
    },
    amz_server_side_encryption_aws_kms_key_id: {
      schema: v.pipe(v.string(), v.regex(/^[\w:/-]{1,2048}$/, 'the ARN of a key is expected')),
      secret: false,
    },
  },
  'bedrock-mantle': { ...aws, anthropic_version: text, anthropic_beta: text },
  'claude-platform-aws': { ...aws, anthropic_aws_workspace_id: text, anthropic_version: text, anthropic_beta: text },
  sagemaker: {
    ...aws,
    amzn_sagemaker_custom_attributes: text,
    amzn_sagemaker_target_model: text,
    amzn_sagemaker_target_variant: text,
    amzn_sagemaker_target_container_hostname: text,
    amzn_sagemaker_inference_id: text,
    amzn_sagemaker_enable_explanations: text,
    amzn_sagemaker_inference_component: text,
    amzn_sagemaker_session_id: text,
    amzn_sagemaker_model_name: text,
  },
  'vertex-ai': {
    ...batches,
    vertex_storage_bucket_name: bucket,
    vertex_skip_ptu_cost_attribution: flag,
    /** Stored without effect. */
    vertex_map_metadata: flag,
    vertex_auth_type: {
      schema: v.picklist(['basic', 'serviceAccount', 'wif', 'workload'], 'one of basic, serviceAccount, wif, workload'),
      secret: false,
    },
    vertex_region: text,
    vertex_project_id: text,
    vertex_service_account_json: jsonSecret,
  },
  'stability-ai': {
    stability_client_id: stabilityClient,
    stability_client_user_id: stabilityClient,
    stability_client_version: stabilityClient,
  },
  'workers-ai': { workers_ai_account_id: text },
  'fireworks-ai': { fireworks_account_id: text },
  huggingface: { huggingface_base_url: url },
  databricks: { databricks_workspace: text },
  cortex: { snowflake_account: text },
  byteplus: { byteplus_region: text },
  oracle: {
    oracle_region: text,
    oracle_api_version: text,
    oracle_compartment_id: text,
    oracle_tenancy: text,
    oracle_user: text,
    oracle_fingerprint: text,
    oracle_private_key: secret,
  },
};

function isHttpUrl(value: string): boolean {
  const parsed = URL.parse(value);
  if (!parsed) return false;
  return /^https?:$/.test(parsed.protocol) && parsed.username === '' && parsed.password === '' && parsed.hash === '';
}
