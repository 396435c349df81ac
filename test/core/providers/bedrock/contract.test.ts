import { isObject, type JsonObject } from '../../../../core/contract/values/json/json.ts';
import { bedrock } from '../../../../core/providers/bedrock/index.ts';
import { providerContractSuite } from '../contract-suite.ts';

providerContractSuite(bedrock, {
  settings: { aws_region: 'us-east-1', aws_auth_type: 'apiKey' },
  finishReasons: {
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool_calls',
    guardrail_intervened: 'content_filter',
    content_filtered: 'content_filter',
    malformed_tool_use: 'length',
  },
  // CountTokens contains the counted body in base64. Rerank has the model's fields in an object of their own.
  unwrap: (operation, body) => {
    if (operation === 'messagesCountTokens') return countedBody(body);
    return operation === 'rerank' ? fieldsOfReranker(body) : body;
  },
});

function countedBody({ input }: JsonObject): JsonObject {
  const invoked = isObject(input) && isObject(input.invokeModel) ? input.invokeModel.body : '';
  return JSON.parse(Buffer.from(String(invoked), 'base64').toString('utf8')) as JsonObject;
}

function fieldsOfReranker(body: JsonObject): JsonObject {
  let fields: unknown = body;
  for (const name of [
    'rerankingConfiguration',
    'bedrockRerankingConfiguration',
    'modelConfiguration',
    'additionalModelRequestFields',
  ]) {
    fields = isObject(fields) ? fields[name] : undefined;
  }
  return isObject(fields) ? fields : body;
}
