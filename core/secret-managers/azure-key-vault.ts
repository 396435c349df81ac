import * as v from 'valibot';
import { identityToken } from '../cloud-auth/azure-identity.ts';
import type { MappedSecretDocument } from '../contract/protocol/credentials/secret-reference.ts';
import type { Credentials, ProviderSettings } from '../contract/provider/provider.ts';
import { Secret } from '../contract/values/credentials/secret.ts';
import { parseObject } from '../contract/values/json/json.ts';
import { azureIdentitySettings } from '../provider-settings/azure.ts';
import { away, errorCodeOf, refused, statusError } from './secret-error.ts';
import {
  addressOf,
  checkedAuth,
  type ManagerAddress,
  objectIn,
  required,
  requiredSecret,
  type SecretReader,
} from './secret-reader.ts';

const who = 'Azure Key Vault';
/** The oldest supported API version that has every feature used here. Sovereign clouds have it too. */
const apiVersion = '7.4';
/** Clouds by the host names of their vaults, with audience and issuer of the tokens. */
const clouds = [
  { suffix: '.vault.azure.net', audience: 'https://vault.azure.net', authority: 'https://login.microsoftonline.com' },
  { suffix: '.vault.azure.cn', audience: 'https://vault.azure.cn', authority: 'https://login.partner.microsoftonline.cn' },
  {
    suffix: '.vault.usgovcloudapi.net',
    audience: 'https://vault.usgovcloudapi.net',
    authority: 'https://login.microsoftonline.us',
  },
] as const;
/** Parses the name of a secret and its version. Without a version the newest is used. */
const pathPattern = /^[0-9A-Za-z-]{1,127}(\/[0-9A-Za-z]{1,64})?$/;
const auth = v.object({
  azure_auth_mode: v.picklist(['entra', 'managed', 'default'], 'one of entra, managed, default'),
  azure_entra_tenant_id: v.optional(azureIdentitySettings.azure_entra_tenant_id.schema),
  azure_entra_client_id: v.optional(azureIdentitySettings.azure_entra_client_id.schema),
  azure_managed_client_id: v.optional(azureIdentitySettings.azure_managed_client_id.schema),
});

/** Get Secret (learn.microsoft.com/rest/api/keyvault/secrets/get-secret): returns the `value` of a secret. */
export const readAzureSecret: SecretReader = async (mapped, credentials, organisationId, { sign, trusted }) => {
  const address = addressOf('azure_vault_url', mapped.auth, trusted);
  if (!pathPattern.test(mapped.path)) throw refused('secret_path: expected the name of a secret, or name/version');
  const known = clouds.find(({ suffix }) => address.hostname.endsWith(suffix));
  const cloud = known ?? clouds[0];
  const settings = identityOf(mapped, credentials, address, known !== undefined);
  const scope = `${cloud.audience}/.default`;
  const token = await identityToken(who, settings, credentials, sign, { authority: cloud.authority, scope });
  const reply = await sign.fetch({
    url: `${address.base}/secrets/${mapped.path}?api-version=${apiVersion}`,
    method: 'GET',
    headers: ['accept', 'application/json', 'authorization', `Bearer ${token.value.reveal()}`],
    body: null,
    tenant: organisationId,
  });
  if (reply.status !== 200) {
    const error = parseObject(reply.body)?.error as { code?: unknown } | undefined;
    throw statusError(who, reply.status, errorCodeOf(error?.code));
  }
  const { value } = objectIn(who, reply.body);
  if (typeof value !== 'string') throw away(`${who} sent a reply without a value`);
  return { kind: 'text', text: new Secret(value) };
};

/**
 * Returns the settings for the Azure identity. A machine-identity token goes only to Azure's own hosts and to those of the
 * operator.
 */
function identityOf(
  mapped: MappedSecretDocument,
  credentials: Credentials,
  address: ManagerAddress,
  isAzure: boolean,
): ProviderSettings {
  const settings = checkedAuth(auth, mapped.auth);
  if (settings.azure_auth_mode === 'entra') {
    for (const field of ['azure_entra_tenant_id', 'azure_entra_client_id']) required(mapped.auth, field);
    requiredSecret(credentials, 'azure_entra_client_secret');
    return settings;
  }
  if (!address.isTrusted && !(isAzure && address.base.startsWith('https:'))) {
    throw refused(
      'azure_vault_url: machine-identity tokens are sent only to vaults of Azure and to hosts in TRUSTED_CUSTOM_HOSTS',
    );
  }
  return settings.azure_auth_mode === 'managed' ? settings : machineDefault();
}

/**
 * Returns the settings of the machine's own identity: the workload identity of its orchestrator, else its managed identity.
 * Secrets in the environment are not used.
 */
function machineDefault(): ProviderSettings {
  const { AZURE_FEDERATED_TOKEN_FILE: file, AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client } = process.env;
  if (file && tenant && client) return { azure_auth_mode: 'workload' };
  return { azure_auth_mode: 'managed', ...(client ? { azure_managed_client_id: client } : {}) };
}
