/** Declarations of third-party providers (`svc-gateway/provider`). The control plane loads them too, so they import no adapter. */

export { addProviders } from '../provider-settings/added-providers.ts';
export {
  defineProvider,
  type ProviderDeclaration,
  type ProviderInput,
  type SettingDeclaration,
} from '../provider-settings/declaration.ts';
export { choice, count, flag, headerSecret, headerValue, label, secret, text, url } from '../provider-settings/kinds.ts';
