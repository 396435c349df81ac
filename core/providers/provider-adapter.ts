/** Adapters of third-party providers (`svc-gateway/provider-adapter`). Only gateways load them. */

export type { DeploymentProbe, ListedModel, ModelList, ModelPage } from '../contract/provider/model-list.ts';
export type { HiddenModel, ModelSources } from '../contract/provider/model-sources.ts';
export type {
  BytesReply,
  ClientHeaders,
  Credentials,
  Operation,
  OperationCall,
  OperationName,
  OutgoingCall,
  ProviderAdapter,
  ProviderError,
  ProviderSettings,
  Realtime,
  RequestContent,
  StepReply,
  StepRequest,
  StepResponse,
  StepServices,
} from '../contract/provider/provider.ts';
export type { SignServices } from '../contract/provider/sign-services.ts';
export type {
  StreamDecoder,
  StreamDecoding,
  StreamEvent,
  StreamReader,
  StreamTranslator,
} from '../contract/provider/stream-event.ts';
export { GatewayError } from '../contract/values/errors/errors.ts';
export type { HeaderList } from '../contract/values/http/http.ts';
export type { JsonObject } from '../contract/values/json/json.ts';
export { emptyUsage, type Usage, type UsageUnit } from '../contract/values/models/usage.ts';
export { openAiCompatible } from '../formats/openai/openai-compatible.ts';
export { declared } from '../provider-settings/declaration.ts';
