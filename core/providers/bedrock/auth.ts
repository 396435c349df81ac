import { acceptAwsStream, signAwsCall } from '../../cloud-auth/aws-call.ts';
import { authTypeOf } from '../../cloud-auth/aws-identity.ts';
import { awsOrigin, regionOf } from '../../cloud-auth/aws-region.ts';
import { type Labels, refuseTagsWithoutRole } from '../../cloud-auth/aws-session-tags.ts';
import type { Credentials, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import type { SignServices } from '../../contract/provider/sign-services.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { Maybe } from '../../contract/values/maybe.ts';

/** Selects the service endpoint of the call and signs the call for it, unless it carries an API key. */
export function signCall(
  call: OutgoingCall,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels?: Labels,
): Maybe<void> {
  if (call.origin === storageOrigin(settings)) {
    if (authTypeOf(settings, credentials) === 'apiKey') throw keyForStorage();
    return signAwsCall(call, 's3', settings, credentials, services, labels);
  }
  if (typeof settings.custom_host !== 'string' || settings.custom_host === '') call.origin = originOf(call.path, settings);
  acceptAwsStream(call);
  if (authTypeOf(settings, credentials) === 'apiKey') return refuseTagsWithoutRole(settings, 'apiKey');
  return signAwsCall(call, 'bedrock', settings, credentials, services, labels);
}

/** Origin of S3 in the region of the settings. Buckets are part of the path, so no bucket name becomes part of a host. */
export function storageOrigin(settings: ProviderSettings): string {
  return awsOrigin('s3', regionOf(settings));
}

/** Error for a Bedrock API key: S3 does not accept it, so it is not sent there. */
function keyForStorage(): GatewayError {
  return new GatewayError('invalid_config', {
    message:
      'files of bedrock are stored in S3, which does not accept Bedrock API keys. Set aws_access_key_id and aws_secret_access_key, or a role',
    param: 'aws_auth_type',
  });
}

/** `bedrock-runtime` runs models. All other functions (lists, jobs, profiles) have other hosts. */
function originOf(path: string, settings: ProviderSettings): string {
  const region = regionOf(settings);
  if (/^\/(model|guardrail|async-invoke)([/?]|$)/.test(path)) return awsOrigin('bedrock-runtime', region);
  if (/^\/(rerank|knowledgebases|retrieveAndGenerate)/.test(path)) return awsOrigin('bedrock-agent-runtime', region);
  return awsOrigin('bedrock', region);
}
