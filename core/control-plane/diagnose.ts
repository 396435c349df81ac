import type { ConnectionCheck } from '../contract/protocol/connection-test.ts';
import type { ProviderSettings } from '../contract/provider/provider.ts';
import type { GatewayError } from '../contract/values/errors.ts';

type Settings = Readonly<ProviderSettings>;

/** The field that says where calls go. */
export function hostField(provider: string, settings: Settings): string {
  if (settings.custom_host) return 'configurations.custom_host';
  return hostFields[provider] ?? 'ai_provider_id';
}

/** The field that says as whom calls are made. */
export function credentialField(settings: Settings): string {
  for (const [by, fields] of Object.entries(credentialFields)) {
    const field = fields[String(settings[by])];
    if (field !== undefined) return `configurations.${field}`;
  }
  return 'key';
}

/** What a status of the provider says about the fields. `said` is the provider's own explanation, made safe. */
export function statusChecks(provider: string, settings: Settings, status: number, said: string): ConnectionCheck[] {
  const host = hostField(provider, settings);
  const credential = credentialField(settings);
  const reached: ConnectionCheck = { field: host, status: 'ok', message: 'the provider answers' };
  const words = said === '' ? '' : `: ${said}`;
  if (status >= 200 && status < 300) return [reached, { field: credential, status: 'ok', message: 'the provider accepts it' }];
  if (status === 401) return [reached, { field: credential, status: 'failed', message: `the provider refuses it (401)${words}` }];
  if (status === 403) {
    const message = `the provider knows it but does not allow this (403); look at its permissions, and at region and project${words}`;
    return [reached, { field: credential, status: 'failed', message }];
  }
  if (status === 404) return [{ field: host, status: 'failed', message: `nothing is found there (404)${words}` }];
  if (status === 429)
    return [reached, { field: credential, status: 'ok', message: 'accepted, but its rate limit is used up (429)' }];
  if (status >= 500)
    return [{ field: host, status: 'failed', message: `the provider has trouble of its own (${status})${words}` }];
  if (status >= 300 && status < 400) {
    return [{ field: host, status: 'failed', message: `a redirection (${status}) is answered, which is never followed` }];
  }
  // Some providers say 400 to a key that is malformed.
  const isCredential = /api[ _-]?key|token|credential|signature|unauthori[sz]ed/i.test(said);
  return [
    reached,
    { field: isCredential ? credential : host, status: 'failed', message: `the call is refused (${status})${words}` },
  ];
}

/** What an error of ours says about the fields: settings that do not fit, names that are not found, doors that stay shut. */
export function errorChecks(provider: string, settings: Settings, error: GatewayError): ConnectionCheck[] {
  const host = hostField(provider, settings);
  switch (error.code) {
    case 'invalid_provider':
      return [{ field: 'ai_provider_id', status: 'failed', message: error.message }];
    case 'invalid_config': {
      const named = error.param ?? /: ([a-z_]+)(?:\[|:)/.exec(error.message)?.[1];
      return [{ field: named ? `configurations.${named}` : 'configurations', status: 'failed', message: error.message }];
    }
    case 'invalid_custom_host':
      return [
        { field: host, status: 'failed', message: 'this address must not be called: it is not public, or its port is closed' },
      ];
    case 'upstream_connect':
      return [{ field: host, status: 'failed', message: connectFault(error.detail ?? '') }];
    case 'request_timeout':
      return [{ field: host, status: 'failed', message: 'no answer in time' }];
    case 'upstream_reset':
    case 'upstream_invalid':
      return [{ field: host, status: 'failed', message: 'what answers there does not speak HTTP as expected' }];
    case 'internal':
      return [{ field: host, status: 'unknown', message: 'the gateway could not make the call' }];
    default:
      return [{ field: credentialField(settings), status: 'failed', message: error.message }];
  }
}

function connectFault(detail: string): string {
  if (/ENOTFOUND|EAI_/.test(detail)) return 'its name is not found (DNS)';
  if (/ECONNREFUSED/.test(detail)) return 'nothing listens there (connection refused)';
  if (/EHOSTUNREACH|ENETUNREACH/.test(detail)) return 'there is no way to its network';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME/.test(detail)) return 'its certificate is not good for this name (TLS)';
  if (/EPROTO|SSL|TLS/.test(detail)) return 'it does not speak TLS; perhaps http:// is meant';
  if (/TIMEDOUT|TIMEOUT/.test(detail)) return 'no connection in time';
  return 'it could not be connected to';
}

const hostFields: Readonly<Record<string, string>> = {
  'azure-openai': 'configurations.azure_resource_name',
  'azure-ai': 'configurations.azure_foundry_url',
  bedrock: 'configurations.aws_region',
  sagemaker: 'configurations.aws_region',
  'vertex-ai': 'configurations.vertex_region',
  huggingface: 'configurations.huggingface_base_url',
  'workers-ai': 'configurations.workers_ai_account_id',
  cortex: 'configurations.snowflake_account',
  databricks: 'configurations.databricks_workspace',
};

/** By the setting that names how to authenticate. */
const credentialFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  provider_auth_type: { oauthClientCredentials: 'oauth_client_secret' },
  aws_auth_type: { accessKey: 'aws_secret_access_key', assumedRole: 'aws_role_arn' },
  azure_auth_mode: {
    entra: 'azure_entra_client_secret',
    managed: 'azure_managed_client_id',
    workload: 'azure_workload_client_id',
    entraFederated: 'azure_entra_client_id',
  },
  vertex_auth_type: {
    serviceAccount: 'vertex_service_account_json',
    wif: 'vertex_service_account_json',
    workload: 'vertex_service_account_json',
  },
};
