import { signUnlessKeyed } from '../../cloud-auth/aws-call.ts';
import { authTypeOf } from '../../cloud-auth/aws-identity.ts';
import { regionOf } from '../../cloud-auth/aws-region.ts';
import type { Labels } from '../../cloud-auth/aws-session-tags.ts';
import type { Credentials, OutgoingCall, ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import type { SignServices } from '../../contract/provider/sign-services.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import type { Maybe } from '../../contract/values/maybe.ts';
import { anthropicChat } from '../../formats/anthropic/chat-completions.ts';
import { anthropicCompletions } from '../../formats/anthropic/completions.ts';
import { anthropicError } from '../../formats/anthropic/errors.ts';
import { anthropicMessages } from '../../formats/anthropic/messages.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtra } from '../../translate/messages-over-chat/request.ts';
import { anthropic } from './anthropic.ts';
import { authHeaders, completeHeaders } from './auth.ts';
import { claudePlatformAws as declaration } from './settings.ts';

const { id } = declaration;
const service = 'aws-external-anthropic';

/**
 * Claude Platform on AWS: Anthropic's whole API at an address of AWS, with identities and billing of an AWS account
 * (https://docs.aws.amazon.com/claude-platform/latest/userguide/making-requests.html). See README.md.
 */
export const claudePlatformAws: ProviderAdapter & { readonly chatExtras: readonly ChatExtra[] } = {
  ...anthropic,
  ...declared(declaration),
  operations: {
    ...anthropic.operations,
    chatComplete: anthropicChat(id),
    complete: anthropicCompletions(id),
    messages: anthropicMessages(id),
  },
  baseUrl: (given) => `https://${service}.${regionOf(given)}.api.aws/v1`,
  headers(given, credentials): HeaderList {
    const { anthropic_aws_workspace_id: workspace } = given;
    const key = authTypeOf(given, credentials) === 'apiKey' ? credentials : {};
    return [...authHeaders(given, key), ...(typeof workspace === 'string' ? ['anthropic-workspace-id', workspace] : [])];
  },
  sign,
  // A signature covers the body.
  buffersProxyBodies: (given, credentials) => authTypeOf(given, credentials) !== 'apiKey',
  error: (status, body, headers) => anthropicError(id, status, body, headers),
};

function sign(
  call: OutgoingCall,
  given: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels?: Labels,
): Maybe<void> {
  completeHeaders(call, given, credentials);
  return signUnlessKeyed(call, service, given, credentials, services, labels);
}
