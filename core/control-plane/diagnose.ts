import type { ConnectionCheck } from '../contract/protocol/connection-test.ts';
import type { ProviderAdapter, ProviderSettings } from '../contract/provider/provider.ts';
import type { GatewayError } from '../contract/values/errors.ts';

/** The fields of an integration that a failed call is attributed to, as its errors name them. */
export interface CallFields {
  /** The field that decides the host. */
  readonly host: string;
  /** The field that decides the credential. */
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

/** What a status of the provider says about the fields. `said` is the provider's own explanation, made safe. */
export function statusChecks({ host, credential }: CallFields, status: number, said: string): ConnectionCheck[] {
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
export function errorChecks({ host, credential }: CallFields, error: GatewayError): ConnectionCheck[] {
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
      return [{ field: credential, status: 'failed', message: error.message }];
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
