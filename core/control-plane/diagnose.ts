import type { ConnectionCheck } from '../contract/protocol/control-plane-calls/connection-test.ts';
import type { ProviderAdapter, ProviderSettings } from '../contract/provider/provider.ts';
import type { GatewayError } from '../contract/values/errors/errors.ts';

/** The fields of an integration that a failed call is attributed to, as its errors name them. */
export interface CallFields {
  /** The field that sets the host. */
  readonly host: string;
  /** The field that sets the credential. */
  readonly credential: string;
}

/** Returns the fields of calls with these settings. `adapter` is null if the provider is unknown. */
export function callFields(
  adapter: Pick<ProviderAdapter, 'errorFields'> | null,
  settings: Readonly<ProviderSettings>,
): CallFields {
  const host = adapter?.errorFields?.host(settings) ?? null;
  const credential = adapter?.errorFields?.credential(settings) ?? 'api_key';
  return {
    host: host === null ? 'ai_provider_id' : `configurations.${host}`,
    credential: credential === 'api_key' ? 'key' : `configurations.${credential}`,
  };
}

/**
 * Returns the checks of the fields that follow from a status of the provider. `stated` is the provider's own explanation,
 * sanitised.
 */
export function statusChecks({ host, credential }: CallFields, status: number, stated: string): ConnectionCheck[] {
  const reached: ConnectionCheck = { field: host, status: 'ok', message: 'the provider replied' };
  const words = stated === '' ? '' : `: ${stated}`;
  if (status >= 200 && status < 300)
    return [reached, { field: credential, status: 'ok', message: 'the provider accepts the credential' }];
  if (status === 401)
    return [reached, { field: credential, status: 'failed', message: `the provider rejects the credential (401)${words}` }];
  if (status === 403) {
    const message = `the credential lacks permissions (403). Check its permissions, region and project${words}`;
    return [reached, { field: credential, status: 'failed', message }];
  }
  if (status === 404)
    return [{ field: host, status: 'failed', message: `the path does not exist at this address (404)${words}` }];
  if (status === 429)
    return [reached, { field: credential, status: 'ok', message: 'accepted, but the rate limit is exhausted (429)' }];
  if (status >= 500)
    return [{ field: host, status: 'failed', message: `the provider has an internal error (${status})${words}` }];
  if (status >= 300 && status < 400) {
    return [{ field: host, status: 'failed', message: `the address replies with a redirect (${status}), which is not followed` }];
  }
  // Some providers return 400 for a malformed key.
  const isCredential = /api[ _-]?key|token|credential|signature|unauthori[sz]ed/i.test(stated);
  return [
    reached,
    { field: isCredential ? credential : host, status: 'failed', message: `the provider rejected the call (${status})${words}` },
  ];
}

/** Returns the check of a successful reply that is a web page: the host is a proxy or a website, or the path is wrong. */
export function pageCheck({ host }: CallFields): ConnectionCheck {
  return {
    field: host,
    status: 'failed',
    message: 'the address replies with a web page. Check host and path, such as a missing /v1',
  };
}

/**
 * Returns the checks of the fields that follow from an error of the gateway: invalid settings, names that do not resolve, refused
 * connections.
 */
export function errorChecks({ host, credential }: CallFields, error: GatewayError): ConnectionCheck[] {
  switch (error.code) {
    case 'invalid_provider':
      return [{ field: 'ai_provider_id', status: 'failed', message: error.message }];
    case 'invalid_config': {
      const named = error.param ?? error.settings[0];
      return [{ field: named ? `configurations.${named}` : 'configurations', status: 'failed', message: error.message }];
    }
    case 'invalid_custom_host':
      return [
        {
          field: host,
          status: 'failed',
          message: notAllowed,
        },
      ];
    case 'upstream_connect':
      return [{ field: host, status: 'failed', message: connectError(error.detail ?? '') }];
    case 'request_timeout':
      return [{ field: host, status: 'failed', message: 'no reply in time' }];
    case 'upstream_reset':
    case 'upstream_invalid':
      return [{ field: host, status: 'failed', message: 'the server does not reply with valid HTTP' }];
    case 'internal':
    case 'overloaded':
      return [{ field: host, status: 'unknown', message: 'the gateway could not make the call' }];
    default:
      return [{ field: credential, status: 'failed', message: error.message }];
  }
}

const notAllowed =
  'the address is not allowed: it is not public, or its port is blocked. Add it to TRUSTED_CUSTOM_HOSTS to allow it';

/**
 * Returns the reason of a failed call for members of an organisation. Details of errors name the addresses that a host resolved to, which
 * would reveal the network of the operator.
 */
export function failureText(error: GatewayError): string {
  if (error.code === 'upstream_connect') return connectError(error.detail ?? '');
  // The limit is the service's own: no request has sent it.
  if (error.code === 'request_timeout' && error.waitedMs !== null) return `no response within ${error.waitedMs} ms`;
  // A reason from the text of the URL is in the message, and one from the look-up of its name is in the detail.
  if (error.code === 'invalid_custom_host') return error.detail === null ? error.message : notAllowed;
  return error.message;
}

/** The detail names the address of the proxy. */
function proxyError(detail: string): string {
  const status = /^HTTPS_PROXY: it replied (\d{3}) /.exec(detail)?.[1];
  if (status === undefined) return 'the proxy of the gateway (HTTPS_PROXY) is not reached';
  return `the proxy of the gateway (HTTPS_PROXY) opened no connection to this host: it replied ${status}`;
}

function connectError(detail: string): string {
  if (detail.startsWith('HTTPS_PROXY: ')) return proxyError(detail);
  if (/ENOTFOUND|EAI_/.test(detail)) return 'the host name is not found (DNS)';
  if (/ECONNREFUSED/.test(detail)) return 'no server listens at this address (connection refused)';
  if (/EHOSTUNREACH|ENETUNREACH/.test(detail)) return 'no route to the network of this address';
  if (/ALTNAME/.test(detail)) return 'the certificate is not valid for this host name (TLS)';
  if (/EXPIRED/.test(detail)) return 'the certificate has expired (TLS)';
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(detail)) {
    return 'the certificate is not from a trusted authority (TLS). The operator can trust a private one with NODE_EXTRA_CA_CERTS';
  }
  if (/EPROTO|SSL|TLS/.test(detail)) return 'the server does not support TLS. Check whether the URL should start with http://';
  if (/TIMEDOUT|TIMEOUT/.test(detail)) return 'no connection in time';
  return 'the connection failed';
}
