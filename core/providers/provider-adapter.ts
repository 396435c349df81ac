/** Adapters of third-party providers (`svc-gateway/provider-adapter`). Only gateways load them. */

export type {
  Operation,
  OperationCall,
  OperationName,
  ProviderAdapter,
  ProviderSettings,
} from '../contract/provider/provider.ts';
export { GatewayError } from '../contract/values/errors.ts';
export { openAiCompatible } from '../formats/openai/openai-compatible.ts';
export { declared } from '../provider-settings/declaration.ts';
