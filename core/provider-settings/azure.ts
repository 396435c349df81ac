import type { AuthModes, SettingDeclaration } from './declaration.ts';
import { choice, headerSecret, secret, text } from './kinds.ts';

/**
 * Settings of Azure's providers that select the identity of calls: a key, or a token of Microsoft Entra ID that represents an
 * application (client secret, federated identity) or the machine (managed identity).
 */
export const azureIdentitySettings = {
  azure_auth_mode: choice({
    about: 'Authentication: key, client secret, managed identity, workload identity, or federated credential.',
    options: ['default', 'entra', 'managed', 'workload', 'entraFederated'],
    pinned: 'always',
  }),
  azure_ad_token: headerSecret({ about: 'Access token of Microsoft Entra ID that the caller obtained.' }),
  azure_entra_tenant_id: id('Tenant of the application.', 'a tenant id or domain'),
  azure_entra_client_id: id('Client id of the application.', 'a client id'),
  azure_entra_client_secret: secret({ about: 'Client secret of the application.' }),
  azure_entra_scope: text({
    about: 'Scope of the token in place of https://cognitiveservices.azure.com/.default.',
    pattern: /^[\x21-\x7e]{1,512}$/,
    expected: 'a scope such as https://ai.azure.com/.default',
    example: 'https://ai.azure.com/.default',
  }),
  azure_managed_client_id: id('Client id of a user-assigned managed identity.', 'a client id'),
  azure_workload_client_id: id('Client id of the workload identity.', 'a client id'),
  azure_workload_tenant_id: id('Tenant of the workload identity.', 'a tenant id'),
} satisfies Readonly<Record<string, SettingDeclaration>>;

/** The modes by `azure_auth_mode`. Integrations must choose one. */
export const azureAuth: AuthModes = {
  setting: 'azure_auth_mode',
  required: true,
  modes: {
    default: { needs: ['api_key'] },
    entra: {
      needs: ['azure_entra_tenant_id', 'azure_entra_client_id', 'azure_entra_client_secret'],
      credential: 'azure_entra_client_secret',
    },
    managed: { credential: 'azure_managed_client_id' },
    workload: {
      needs: ['azure_workload_tenant_id', 'azure_workload_client_id'],
      credential: 'azure_workload_client_id',
      federates: true,
    },
    entraFederated: {
      needs: ['azure_entra_tenant_id', 'azure_entra_client_id'],
      refuses: ['azure_entra_client_secret'],
      credential: 'azure_entra_client_id',
    },
  },
  usual: [
    ['entra', 'azure_entra_client_secret'],
    ['default', null],
  ],
};

function id(about: string, expected: string): SettingDeclaration {
  const example = '11111111-2222-3333-4444-555555555555';
  return text({ about, pattern: /^[A-Za-z0-9][A-Za-z0-9.-]{0,253}$/, expected, example, pinned: 'always' });
}
