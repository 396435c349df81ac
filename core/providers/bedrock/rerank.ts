import { regionOf } from '../../cloud-auth/aws-region.ts';
import type { Operation, OperationCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { withTextDocuments } from '../../formats/openai/rerank.ts';
import { searchUnits, withReturnedDocuments } from '../../formats/openai/returned-documents.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';
import { baseModelId, makerOf, modelSegment } from './model-id.ts';

/**
 * Rerank models of Amazon and Cohere by the Rerank operation of `bedrock-agent-runtime`. The operation accepts no API keys and
 * exists at no other host, so with `aws_auth_type: apiKey` or a `custom_host` the models are called by InvokeModel.
 */
export const rerank: Operation = {
  path: (call) => (isInvoked(call.settings) ? `/model/${modelSegment(call.model)}/invoke` : '/rerank'),
  toProvider: (params, call) => (isInvoked(call.settings) ? invokeRequest(params, call) : rerankRequest(params, call)),
  fromProvider: rerankReply,
  usage: () => null,
  usageOfCall: (call) => unitUsage('search_units', searchUnits(call.params), null),
  // The replies are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('bedrock', []),
};

function isInvoked(settings: ProviderSettings): boolean {
  return settings.aws_auth_type === 'apiKey' || (typeof settings.custom_host === 'string' && settings.custom_host !== '');
}

/**
 * docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html; other parameters of the caller are the model's.
 */
function rerankRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, query, documents, top_n: count, return_documents: _return, ...fields } = params;
  if (typeof query !== 'string') throw badParam('query', 'a text is expected');
  if (!Array.isArray(documents) || documents.length === 0) throw badParam('documents', 'a list of documents is expected');
  return {
    queries: [{ type: 'TEXT', textQuery: { text: query } }],
    sources: documents.map((document) => ({ type: 'INLINE', inlineDocumentSource: sourceOf(document) })),
    rerankingConfiguration: {
      type: 'BEDROCK_RERANKING_MODEL',
      bedrockRerankingConfiguration: {
        ...(count === undefined || count === null ? {} : { numberOfResults: count }),
        modelConfiguration: {
          modelArn: modelArn(call),
          ...(Object.keys(fields).length === 0 ? {} : { additionalModelRequestFields: fields }),
        },
      },
    },
  };
}

function sourceOf(document: unknown): JsonObject {
  if (typeof document === 'string') return { type: 'TEXT', textDocument: { text: document } };
  if (!isObject(document)) throw badParam('documents', 'texts or objects are expected');
  const { text, ...others } = document;
  const isText = typeof text === 'string' && Object.keys(others).length === 0;
  return isText ? { type: 'TEXT', textDocument: { text } } : { type: 'JSON', jsonDocument: document };
}

/** The operation accepts ARNs only. */
function modelArn({ model, settings }: OperationCall): string {
  if (model.startsWith('arn:')) return model;
  modelSegment(model);
  const region = regionOf(settings);
  return `arn:${partitionOf(region)}:bedrock:${region}::foundation-model/${baseModelId(model)}`;
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn';
  if (region.startsWith('us-gov-')) return 'aws-us-gov';
  return region.startsWith('eusc-') ? 'aws-eusc' : 'aws';
}

/** The models' own format: docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-rerank.html */
function invokeRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { model: _model, return_documents: _return, ...body } = withTextDocuments(params, call);
  return makerOf(call.model) === 'cohere' ? { api_version: 2, ...body } : body;
}

function rerankReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { results, ...others } = reply;
  if (!Array.isArray(results)) return reply;
  const list = results.map((result: unknown) => {
    if (!isObject(result) || result.relevanceScore === undefined) return result;
    // The operation returns documents in the form of its sources. The route returns them as they were sent.
    const { relevanceScore: score, document: _document, ...rest } = result;
    return { ...rest, relevance_score: score };
  });
  return { results: withReturnedDocuments(list, call), model: call.model, provider: 'bedrock', ...others };
}
