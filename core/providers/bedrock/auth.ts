import { GatewayError } from '../../contract/errors.ts';
import type { HeaderList } from '../../contract/http.ts';
import { isPromise, type Maybe } from '../../contract/json.ts';
import type { Credentials, OutgoingCall, ProviderSettings, SignServices } from '../../contract/provider.ts';
import { authTypeOf, awsIdentity } from '../shared/aws-identity.ts';
import { awsOrigin, regionOf } from '../shared/aws-region.ts';
import { type AwsIdentity, awsSigned } from '../shared/aws-sign.ts';

/** `authorization: Bearer` for a Bedrock API key; calls of the other kinds are signed one by one. */
export function authHeaders(settings: ProviderSettings, credentials: Credentials): HeaderList {
  const key = authTypeOf(settings, credentials) === 'apiKey' ? (credentials.api_key?.reveal() ?? '') : '';
  return key === '' ? [] : ['authorization', `Bearer ${key}`];
}

/** Sends the call to the right one of the service's endpoints and signs it there, unless an API key says who calls. */
export function signCall(
  call: OutgoingCall,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
): Maybe<void> {
  if (typeof settings.custom_host !== 'string' || settings.custom_host === '') call.origin = originOf(call.path, settings);
  acceptStream(call);
  if (authTypeOf(settings, credentials) === 'apiKey') return;
  refuseUnreadBody(call);
  const identity = awsIdentity(settings, credentials, services);
  return isPromise(identity)
    ? identity.then((found) => signAs(found, call, settings, services))
    : signAs(identity, call, settings, services);
}

async function signAs(
  identity: AwsIdentity,
  call: OutgoingCall,
  settings: ProviderSettings,
  services: SignServices,
): Promise<void> {
  call.headers = await awsSigned(call, identity, { service: 'bedrock', region: regionOf(settings), nowMs: services.now() });
}

/** Models are run at `bedrock-runtime`; everything else about them (lists, jobs, profiles) is asked of other hosts. */
function originOf(path: string, settings: ProviderSettings): string {
  const region = regionOf(settings);
  if (/^\/(model|guardrail|async-invoke)([/?]|$)/.test(path)) return awsOrigin('bedrock-runtime', region);
  if (/^\/(rerank|knowledgebases|retrieveAndGenerate)/.test(path)) return awsOrigin('bedrock-agent-runtime', region);
  return awsOrigin('bedrock', region);
}

/** Streams come in frames of AWS's own, not as the server-sent events that a client asked for. */
function acceptStream(call: OutgoingCall): void {
  const { headers } = call;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === 'accept' && headers[i + 1] === 'text/event-stream') headers[i + 1] = 'application/vnd.amazon.eventstream';
  }
}

/** A signature covers the body, so a body that streams through unread cannot be signed. */
function refuseUnreadBody(call: OutgoingCall): void {
  if (call.body !== null || !['POST', 'PUT', 'PATCH'].includes(call.method)) return;
  for (let i = 0; i < call.headers.length; i += 2) {
    if (call.headers[i] !== 'content-type') continue;
    throw new GatewayError('unsupported_operation', {
      message: 'Pass-through calls with a body need a Bedrock API key: a body that streams through cannot be signed',
    });
  }
}
