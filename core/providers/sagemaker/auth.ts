import { acceptAwsStream, signAwsCall } from '../../cloud-auth/aws-call.ts';
import { authTypeOf } from '../../cloud-auth/aws-identity.ts';
import type { Labels } from '../../cloud-auth/aws-session-tags.ts';
import type { Credentials, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import type { SignServices } from '../../contract/provider/sign-services.ts';
import type { Maybe } from '../../contract/values/maybe.ts';

/** Signs a call of any kind. Throws `invalid_config` naming the missing setting. */
export function signCall(
  call: OutgoingCall,
  settings: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels?: Labels,
): Maybe<void> {
  acceptAwsStream(call);
  const type = authTypeOf(settings, credentials);
  // SageMaker has no API keys, so by default the missing credentials are access keys.
  const as = type === 'apiKey' ? 'accessKey' : type;
  return signAwsCall(call, 'sagemaker', { ...settings, aws_auth_type: as }, credentials, services, labels);
}
