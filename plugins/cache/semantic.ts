import { newEntryCache } from '../../core/contract/entry-cache.ts';
import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreServices, SemanticCacheDefaults } from '../../core/contract/plugin/core-plugin.ts';
import type { CacheRule, EmbeddingModel } from '../../core/contract/plugin/plan.ts';
import {
  type CacheKey,
  type SimilarKey,
  type SimilarReply,
  vectorDimensionsMax,
} from '../../core/contract/protocol/cached-replies.ts';
import { hasDuplicateKeys } from '../../core/contract/values/json/duplicate-keys.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { textOf } from '../../core/contract/values/text/utf8.ts';
import { contentFacts } from './content-facts.ts';
import { partitionDigest } from './key.ts';
import { operationOfPath, type SemanticPrompt, semanticPrompt } from './semantic-prompt.ts';

/** The data with which a request shares replies with requests of another text. */
export interface SemanticRequest {
  readonly threshold: number;
  /** Set once the embedding has arrived: the reply is stored with it. */
  similar: SimilarKey | null;
  /** Resolves with the embedding; null if it could not be had. Never rejects. */
  readonly embedded: Promise<SimilarKey | null>;
}

/** Tokens from which on a text is not embedded: the limit of common embedding models. */
const tokensMax = 8_191;
/** An embedding that arrives after the wait of its request is still stored with the reply. */
const embeddingMs = 10_000;
const countMs = 1_000;
/** After a failure no request asks this provider for embeddings for this long. */
const pauseMs = 1_000;
const pausesMax = 1_000;

const builtInDefaults: SemanticCacheDefaults = { embedding: null, threshold: 0.95, timeoutMs: 500 };

/** The semantic side of the cache: embeddings of requests, and replies to similar ones. */
export interface Semantic {
  /** Begins to embed the text of a request; null if only equal requests may share its reply. */
  begin(ctx: RequestContext, rule: CacheRule, path: string | null): SemanticRequest | null;
  /** Returns the most similar reply within the time a request waits; null if there is none. Never rejects. */
  find(key: CacheKey, request: SemanticRequest): Promise<SimilarReply | null>;
}

export function createSemantic(services: CoreServices): Semantic {
  const { clock, replies, callProvider, countTokens } = services;
  const defaults = services.semanticCache ?? builtInDefaults;
  /** Times until which a provider is not asked, by workspace and slug. */
  const paused = newEntryCache<string, number>(pausesMax);

  return {
    begin(ctx, rule, path) {
      const embedding = rule.embedding ?? defaults.embedding;
      if (rule.mode !== 'semantic' || embedding === null) return null;
      const prompt = promptOf(ctx);
      if (prompt === null || Buffer.byteLength(prompt.text) > textBytesMax || isAmbiguous(ctx)) return null;
      if ((paused.get(pauseKey(ctx, embedding)) ?? 0) > clock.elapsed()) return null;
      const partition = partitionDigest(ctx, path, [prompt.rest, contentFacts(prompt.text), embedding], services);
      const request: SemanticRequest = {
        threshold: Math.max(defaults.threshold, ctx.workspace?.settings?.cacheSimilarityThreshold ?? 0, rule.threshold ?? 0),
        similar: null,
        embedded: embed(ctx, embedding, prompt.text).then((vector) => {
          request.similar = vector === null ? null : { partition, vector };
          return request.similar;
        }),
      };
      return request;
    },
    async find(key, { embedded, threshold }) {
      let cancel = (): void => {};
      const late = new Promise<null>((resolve) => {
        const timer = setTimeout(resolve, defaults.timeoutMs, null);
        timer.unref();
        cancel = () => clearTimeout(timer);
      });
      const found = embedded.then((similar) => (similar === null ? null : replies.similar(key, similar, threshold)));
      return Promise.race([found, late]).finally(cancel);
    },
  };

  async function embed(ctx: RequestContext, embedding: EmbeddingModel, text: string): Promise<Float32Array | null> {
    try {
      // A token has at least one byte.
      if (Buffer.byteLength(text) >= tokensMax && (await countTokens([text], countMs, ctx.identity?.workspaceId)) >= tokensMax)
        return null;
      const { provider, model, dimensions } = embedding;
      const reply = await callProvider({
        request: ctx,
        purpose: 'semantic-cache',
        operation: 'embed',
        provider,
        params: { model, input: text, ...(dimensions === null ? {} : { dimensions }) },
        timeoutMs: embeddingMs,
      });
      return readEmbedding(reply);
    } catch {
      // The call has left a record with the reason.
      paused.set(pauseKey(ctx, embedding), clock.elapsed() + pauseMs);
      return null;
    }
  }
}

/** Returns the prompt of a request as guardrails have left it; null if only equal requests may share its reply. */
function promptOf({ endpoint, params, passedParams }: RequestContext): SemanticPrompt | null {
  if (endpoint?.operation !== null) return params && semanticPrompt(endpoint?.operation ?? null, params);
  const prompt = passedParams && semanticPrompt(operationOfPath(endpoint.proxyPath), passedParams);
  // Replies of pass-through requests are not converted to another form.
  return prompt && { ...prompt, rest: { ...prompt.rest, ' form': [passedParams.stream, passedParams.stream_options] } };
}

/** True if members of a shaped request are sent as the client wrote them, and an object has a name twice: a provider may read another value. */
function isAmbiguous({ bodyLayout, bodyChanged, body, params, passedParams }: RequestContext): boolean {
  // Pass-through bodies with a name twice have no parameters.
  if (passedParams !== null) return false;
  const sent = bodyLayout ?? (bodyChanged || body === null || params === null ? null : { bytes: body, parsed: params });
  return sent !== null && hasDuplicateKeys(textOf(sent.bytes), sent.parsed);
}

/** Longer texts have more than 8,191 tokens in every language. */
const textBytesMax = 128 * 1024;

function pauseKey(ctx: RequestContext, { provider }: EmbeddingModel): string {
  return `${ctx.identity?.workspaceId}/${provider}`;
}

/** Returns the embedding of a reply with length 1; null if there is none. */
function readEmbedding({ data }: JsonObject): Float32Array | null {
  const [first] = Array.isArray(data) ? data : [];
  const values: unknown = isObject(first) ? first.embedding : null;
  if (!Array.isArray(values) || values.length === 0 || values.length > vectorDimensionsMax) return null;
  if (!values.every((value) => typeof value === 'number' && Number.isFinite(value))) return null;
  const length = Math.hypot(...(values as number[]));
  return length > 0 ? Float32Array.from(values as number[], (value) => value / length) : null;
}
