import type { Operation, OperationCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import type { HeaderList } from '../../contract/values/http/http.ts';
import { badParam } from '../../formats/bad-param.ts';
import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { declaration } from './settings.ts';
import { signAsUser } from './sign.ts';

const compatible = openAiCompatible({
  declaration,
  baseUrl: (settings) => `https://inference.generativeai.${regionOf(settings)}.oci.oraclecloud.com`,
  pathPrefix: prefixOf,
  operations: ['chatComplete', 'createModelResponse'],
  headers: compartment,
  chat: { developerAsSystem: true, ownFinishReasons: true },
});

/** Generative AI of Oracle Cloud through its OpenAI-compatible API. See README.md. */
export const oracle: CompatibleAdapter = {
  ...compatible,
  buffersProxyBodies: (_settings, credentials) => credentials.api_key === undefined,
  sign(call, settings, credentials, services) {
    if (credentials.api_key === undefined) signAsUser(call, settings, credentials, services.now());
  },
  operations: {
    chatComplete: inServingMode(compatible.operations.chatComplete as Operation),
    createModelResponse: inServingMode(compatible.operations.createModelResponse as Operation),
  },
};

/** Dedicated serving requires the OCID of an endpoint as model. Any other model would be served on demand. */
function inServingMode(operation: Operation): Operation {
  return {
    ...operation,
    toProvider: (params, call) => {
      checkServingMode(call);
      return operation.toProvider?.(params, call) ?? params;
    },
  };
}

function checkServingMode({ model, settings }: OperationCall): void {
  const isEndpoint = model.startsWith('ocid1.generativeaiendpoint.');
  const mode = settings.oracle_serving_mode;
  if (mode === 'DEDICATED' && !isEndpoint) throw badParam('model', 'the OCID of an endpoint is expected with DEDICATED serving');
  if (mode === 'ON_DEMAND' && isEndpoint) throw badParam('model', 'the name of a model is expected with ON_DEMAND serving');
}

function regionOf(settings: ProviderSettings): string {
  if (typeof settings.oracle_region === 'string') return settings.oracle_region;
  throw new GatewayError('invalid_config', { message: 'oracle_region: required by oracle', param: 'oracle_region' });
}

/** The API without versions, or the dated one. */
function prefixOf(settings: ProviderSettings): string {
  const version = settings.oracle_api_version ?? settings.oracle_version;
  return version === undefined ? '/openai/v1' : `/${version}/actions/v1`;
}

/** Chat completions and responses use different names for the compartment. */
function compartment({ oracle_compartment_id: id }: ProviderSettings): HeaderList {
  return typeof id === 'string' ? ['compartmentid', id, 'opc-compartment-id', id] : [];
}

export const adapters = [oracle];
