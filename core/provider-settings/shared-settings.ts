import type { AuthModes, SettingDeclaration } from './declaration.ts';
import { choice, flag, secret, text, url } from './kinds.ts';

/** Settings of the OAuth client that any provider can authenticate as. */
export const oauthSettings = {
  oauth_token_endpoint: url({
    about: 'Token endpoint of the OAuth client (client credentials).',
    example: 'https://login.example.com/oauth/token',
    only: 'integration',
    query: true,
  }),
  oauth_client_id: text({ about: 'Id of the OAuth client.', example: 'gateway', only: 'integration' }),
  oauth_client_secret: secret({ about: 'Secret of the OAuth client.', only: 'integration' }),
  oauth_scope: text({ about: 'Scope that the OAuth client requests.', example: 'models.call', only: 'integration' }),
} satisfies Readonly<Record<string, SettingDeclaration>>;

/** Settings of every provider. */
export const sharedSettings: Readonly<Record<string, SettingDeclaration>> = {
  custom_host: url({ about: "Base URL in place of the provider's own.", only: 'integration' }),
  provider_auth_type: choice({
    about: "Authentication in place of the provider's own scheme.",
    options: ['oauthClientCredentials', 'wif'],
    only: 'integration',
  }),
  ...oauthSettings,
  use_responses_api: flag({
    about: 'Send chat calls to the Responses API of the provider (true) or never (false).',
    inline: true,
  }),
  is_key_required: flag({ about: 'The integration is incomplete without `key`.', only: 'integration', example: false }),
};

const oauthClient = ['oauth_token_endpoint', 'oauth_client_id', 'oauth_client_secret'] as const;

/** Authentication as an OAuth client, which every provider has. */
export const sharedAuth: AuthModes = {
  setting: 'provider_auth_type',
  modes: { oauthClientCredentials: { needs: oauthClient, credential: 'oauth_client_secret' } },
};

/** Authentication by the token of an identity provider that the provider accepts in exchange: workload identity federation. */
export function federatedAuth(needs: readonly string[]): AuthModes {
  return {
    ...sharedAuth,
    modes: {
      ...sharedAuth.modes,
      wif: { needs: [...oauthClient, ...needs], credential: 'oauth_client_secret', federates: true },
    },
  };
}

/** An id that federation sends to the provider. */
export function federationId(about: string, example: string): SettingDeclaration {
  return text({ about, example, only: 'integration', pattern: /^[\x21-\x7e]{1,512}$/, expected: 'an id without spaces' });
}
