import type { Settings } from '../../../config/settings.ts';
import { oauthScope } from '../../../core/contract/protocol/credentials/oauth-token.ts';

type Public = Pick<Settings, 'publicUrl'>;

/** The issuer is the address of the service: one authorisation server for every MCP server. */
export function issuerOf({ publicUrl }: Public): string {
  return new URL(publicUrl).origin === publicUrl.replace(/\/$/, '') ? publicUrl.replace(/\/$/, '') : publicUrl;
}

/** Metadata of the authorisation server (RFC 8414). */
export function serverMetadata(settings: Public) {
  const issuer = issuerOf(settings);
  const none = ['none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    registration_endpoint: `${issuer}/oauth/register`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    scopes_supported: [oauthScope],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: none,
    revocation_endpoint_auth_methods_supported: none,
    introspection_endpoint_auth_methods_supported: none,
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/v1/docs`,
    ui_locales_supported: ['en'],
  };
}
