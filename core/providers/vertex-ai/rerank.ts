import type { Operation, OperationCall, OutgoingCall, ProviderSettings } from '../../contract/provider/provider.ts';
import { isObject, type JsonObject, objectsIn } from '../../contract/values/json/json.ts';
import { badParam } from '../../formats/bad-param.ts';
import { unitUsage } from '../../formats/media/media-usage.ts';
import { noteOnce } from '../../formats/note-once.ts';
import { typedEventsReader } from '../../formats/typed-events-reader.ts';
import { anyProject } from './address.ts';

/** Maximum number of records that one query ranks. Google bills a query for each hundred of them. */
const recordsOfQuery = 100;

const rankMethod = '/rankingConfigs/default_ranking_config:rank';

/**
 * Rerank by the ranking API of Vertex AI Search
 * (https://cloud.google.com/generative-ai-app-builder/docs/reference/rest/v1/projects.locations.rankingConfigs/rank). It has a host of
 * its own: `withRankingHost` sends the call there.
 */
export const rerank: Operation = {
  path: ({ settings }) => {
    const { vertex_project_id: project } = settings;
    const name = typeof project === 'string' ? encodeURIComponent(project) : anyProject;
    return `/v1/projects/${name}/locations/${rankingLocation(settings)}${rankMethod}`;
  },
  toProvider: rankRequest,
  fromProvider: rankReply,
  usage: () => null,
  usageOfCall: ({ params }) => {
    const count = Array.isArray(params.documents) ? params.documents.length : 0;
    return count > 0 ? unitUsage('search_units', Math.ceil(count / recordsOfQuery), null) : null;
  },
  // The replies are never streamed, but the contract requires a reader.
  streamReader: () => typedEventsReader('vertex-ai', []),
};

/** Sends a ranking call to the host of the ranking API, unless the settings name a host. */
export function withRankingHost(call: OutgoingCall, settings: ProviderSettings): void {
  if (!call.path.endsWith(rankMethod) || typeof settings.custom_host === 'string') return;
  const location = rankingLocation(settings);
  call.origin = `https://${location === 'global' ? '' : `${location}-`}discoveryengine.googleapis.com`;
}

/** Returns the location: `global`, or one of two multi-regions, so that a region stays within its own continent if possible. */
function rankingLocation({ vertex_region: region }: ProviderSettings): 'global' | 'us' | 'eu' {
  if (typeof region !== 'string') return 'global';
  if (region === 'eu' || region.startsWith('europe-')) return 'eu';
  return region === 'us' || region.startsWith('us-') ? 'us' : 'global';
}

function rankRequest(params: JsonObject, call: OperationCall): JsonObject {
  const { documents, top_n: topN, return_documents, max_chunks_per_doc, rank_fields, max_tokens_per_doc, ...others } = params;
  if (!Array.isArray(documents) || documents.length === 0) throw badParam('documents', 'a list of documents is expected');
  for (const [name, value] of Object.entries({ max_chunks_per_doc, rank_fields, max_tokens_per_doc })) {
    if (value !== undefined) noteOnce(call.dropped, name);
  }
  return {
    ...others,
    model: call.model.replace(/^(google|publishers\/google\/models)[./]/, ''),
    records: documents.map((document: unknown, index) => ({ id: String(index), ...recordOf(document, `documents[${index}]`) })),
    ...(topN === undefined || topN === null ? {} : { topN }),
    ...(return_documents === true ? {} : { ignoreRecordDetailsInResponse: true }),
  };
}

function recordOf(document: unknown, path: string): JsonObject {
  if (typeof document === 'string') return { content: document };
  if (!isObject(document)) throw badParam(path, 'a text or an object is expected');
  const { title, text, content } = document;
  const passage = text ?? content;
  if (typeof passage !== 'string' && typeof title !== 'string') return { content: JSON.stringify(document) };
  return { ...(typeof title === 'string' ? { title } : {}), ...(typeof passage === 'string' ? { content: passage } : {}) };
}

function rankReply(reply: JsonObject, call: OperationCall): JsonObject {
  const { records, ...others } = reply;
  const documents = Array.isArray(call.params.documents) ? call.params.documents : [];
  return {
    id: call.newId('rerank-'),
    model: call.model,
    results: objectsIn(records).map((record) => {
      const index = Number(record.id);
      const given: unknown = documents[index];
      const document = typeof given === 'string' ? { text: given } : given;
      return {
        index,
        relevance_score: typeof record.score === 'number' ? record.score : 0,
        ...(call.params.return_documents === true ? { document } : {}),
      };
    }),
    provider: 'vertex-ai',
    ...others,
  };
}
