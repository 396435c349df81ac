import { awsKeyHeaders, signUnlessKeyed } from '../../cloud-auth/aws-call.ts';
import { authTypeOf } from '../../cloud-auth/aws-identity.ts';
import { regionOf } from '../../cloud-auth/aws-region.ts';
import type { Labels } from '../../cloud-auth/aws-session-tags.ts';
import type { Credentials, OutgoingCall, ProviderAdapter, ProviderSettings } from '../../contract/provider/provider.ts';
import type { SignServices } from '../../contract/provider/sign-services.ts';
import { findHeader } from '../../contract/values/http/http.ts';
import type { Maybe } from '../../contract/values/maybe.ts';
import { providerError } from '../../formats/openai/provider-error.ts';
import { declared } from '../../provider-settings/declaration.ts';
import type { ChatExtras } from '../../translate/messages-over-chat/request.ts';
import { chatComplete, chatExtras, createModelResponse, messages, messagesCountTokens } from './operations.ts';
import { declaration } from './settings.ts';

const service = 'bedrock-mantle';

/** Amazon Bedrock's endpoint in the formats of OpenAI and Anthropic. See README.md. */
export const bedrockMantle: ProviderAdapter & { readonly chatExtras: ChatExtras } = {
  ...declared(declaration),
  baseUrl: (given) => `https://${service}.${regionOf(given)}.api.aws`,
  headers: awsKeyHeaders,
  sign,
  forwards: ['anthropic-version', 'anthropic-user-profile-id'],
  // Signatures cover bodies.
  buffersProxyBodies: (given, credentials) => authTypeOf(given, credentials) !== 'apiKey',
  proxyPath: (path) => (/^\/(v1|openai|anthropic)\//.test(path) ? path : `/v1${path}`),
  operations: { chatComplete, messages, messagesCountTokens, createModelResponse },
  chatExtras,
  customTools: true,
  error: providerError('bedrock-mantle'),
};

/** Adds the headers that Anthropic's API needs, and signs calls that carry no key. */
function sign(
  call: OutgoingCall,
  given: ProviderSettings,
  credentials: Credentials,
  services: SignServices,
  labels?: Labels,
): Maybe<void> {
  if (/\/anthropic\/v1\//.test(call.path)) {
    for (const [name, otherwise] of [
      ['anthropic-version', '2023-06-01'],
      ['anthropic-beta', null],
    ] as const) {
      const value = given[name.replace('-', '_')] ?? otherwise;
      if (typeof value === 'string' && value !== '' && findHeader(call.headers, name) === undefined)
        call.headers.push(name, value);
    }
  }
  return signUnlessKeyed(call, service, given, credentials, services, labels);
}

export const adapters = [bedrockMantle];
