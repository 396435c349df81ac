import type { Credentials, OutgoingCall, ProviderSettings } from '../contract/provider/provider.ts';
import type { SignServices } from '../contract/provider/sign-services.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { HeaderList } from '../contract/values/http/http.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import { awsEventStreamType } from './aws-event-frames.ts';
import { authTypeOf, awsIdentity } from './aws-identity.ts';
import { regionOf } from './aws-region.ts';
import type { Labels } from './aws-session-tags.ts';
import { type AwsIdentity, awsSigned } from './aws-sign.ts';

/**
 * Signs a call to this AWS service with the region and identity of the settings. Throws GatewayError: the errors of
 * `awsIdentity`, and `unsupported_operation` for a body that was not read.
 */
export function signAwsCall(
  call: OutgoingCall,
  service: string,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels?: Labels,
): Maybe<void> {
  refuseUnreadBody(call);
  const sign = async (identity: AwsIdentity): Promise<void> => {
    call.headers = await awsSigned(call, identity, { service, region: regionOf(settings), nowMs: services.now() });
  };
  const identity = awsIdentity(settings, credentials, services, labels);
  return isPromise(identity) ? identity.then(sign) : sign(identity);
}

/** Like `signAwsCall`, except that calls with an API key of AWS are not signed. */
export function signUnlessKeyed(...[call, service, settings, credentials, ...rest]: Parameters<typeof signAwsCall>): Maybe<void> {
  if (authTypeOf(settings, credentials) === 'apiKey') return;
  return signAwsCall(call, service, settings, credentials, ...rest);
}

/** `authorization: Bearer` for an API key of AWS; calls of the other kinds are signed one by one. */
export function awsKeyHeaders(settings: ProviderSettings, credentials: Credentials): HeaderList {
  const key = authTypeOf(settings, credentials) === 'apiKey' ? (credentials.api_key?.reveal() ?? '') : '';
  return key === '' ? [] : ['authorization', `Bearer ${key}`];
}

/** Streams come in frames of AWS's own, not as the server-sent events that a client asked for. */
export function acceptAwsStream({ headers }: OutgoingCall): void {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'accept' && headers[i + 1] === 'text/event-stream') headers[i + 1] = awsEventStreamType;
  }
}

/** A signature covers the body, so a body that streams through unread cannot be signed. */
function refuseUnreadBody(call: OutgoingCall): void {
  if (call.body !== null || !['POST', 'PUT', 'PATCH'].includes(call.method)) return;
  for (let i = 0; i < call.headers.length; i += 2) {
    if (call.headers[i] !== 'content-type') continue;
    throw new GatewayError('unsupported_operation', {
      message: 'A streamed body cannot be signed. Use a provider without request signatures',
    });
  }
}
