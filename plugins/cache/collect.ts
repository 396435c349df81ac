import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreHooks } from '../../core/contract/plugin/core-plugin.ts';
import type { Slot } from '../../core/contract/plugin/plugin.ts';
import type { SavedCall } from '../../core/contract/plugin/record/record.ts';
import { recordedUsage } from '../../core/contract/plugin/record/recorded-usage.ts';
import { cachedBytesMax, type EntryLabels, type LeadResult } from '../../core/contract/protocol/cached-replies.ts';
import { ChunkList } from '../../core/contract/values/bodies/chunk-list.ts';
import { findHeader } from '../../core/contract/values/http/http.ts';
import { storableText } from '../../core/contract/values/json/storable-json.ts';
import { formOfReply } from './forms/convert.ts';
import type { SemanticRequest } from './semantic.ts';

/** State of a request that missed, used to store its reply. */
export interface Collecting {
  readonly end: (result: LeadResult) => void;
  readonly maxAgeSeconds: number | null;
  readonly semantic: SemanticRequest | null;
  contentType: string | null;
  contentEncoding: string | null;
  readonly chunks: ChunkList;
}

const defaultMaxAgeSeconds = 604_800;

/** Begins to collect the reply of a request, to end its flight with it. */
export function collectReply(
  slot: Slot<Collecting>,
  ctx: RequestContext,
  end: (result: LeadResult) => void,
  maxAgeSeconds: number | null,
  semantic: SemanticRequest | null,
): void {
  slot.set(ctx, {
    ...{ end, semantic, maxAgeSeconds: maxAgeSeconds ?? askedMaxAge(ctx) },
    ...{ contentType: null, contentEncoding: null, chunks: new ChunkList() },
  });
}

/** Ends the flight that this request leads, without a reply if none is given. */
export function leave(slot: Slot<Collecting>, ctx: RequestContext, result: LeadResult = 'failed'): void {
  slot.get(ctx)?.end(result);
  slot.set(ctx, undefined);
}

/** Hooks that collect replies and store them at their end. */
export function collectingHooks(slot: Slot<Collecting>): CoreHooks {
  return {
    onReply(ctx, head) {
      const collecting = slot.get(ctx);
      if (!collecting || head.status !== 200) return;
      collecting.contentType = findHeader(head.headers, 'content-type') ?? 'application/json';
      collecting.contentEncoding = findHeader(head.headers, 'content-encoding') ?? null;
    },
    onChunk(ctx, chunk) {
      const collecting = slot.get(ctx);
      if (!collecting?.contentType) return chunk;
      collecting.chunks.push(chunk);
      if (collecting.chunks.bytes > cachedBytesMax) {
        collecting.contentType = null;
        collecting.chunks.take();
        // The reply is too large to store: requests that wait for it would wait for nothing.
        collecting.end('failed');
      }
      return chunk;
    },
    onEnd(ctx, outcome) {
      const collecting = slot.get(ctx);
      if (!collecting) return;
      const { contentType, contentEncoding, chunks, maxAgeSeconds, semantic } = collecting;
      if (outcome.kind === 'aborted') return collecting.end('aborted');
      if (!contentType || outcome.kind !== 'success' || outcome.status !== 200 || chunks.bytes === 0)
        return collecting.end('failed');
      const body = chunks.concat();
      const { targetPath, provider } = ctx;
      const call = callOf(ctx);
      const stored = {
        reply: { targetPath, provider, contentType, contentEncoding, form: formOfReply(ctx, contentType), call, body },
        ttlMs: ttlMs(maxAgeSeconds, ctx.workspace?.settings?.cacheTtlSeconds ?? null),
        labels: labelsOf(ctx),
      };
      if (semantic === null || showsHiddenText(ctx)) return collecting.end({ ...stored, similar: null });
      // A refreshed request has not waited for its embedding, which ends within seconds.
      if (ctx.cacheStatus !== 'REFRESH') return collecting.end({ ...stored, similar: semantic.similar });
      void semantic.embedded.then((similar) => collecting.end({ ...stored, similar }));
    },
  };
}

function callOf(ctx: RequestContext): SavedCall {
  const { provider, providerSlug, model } = ctx;
  const trafficType = ctx.usage?.raw?.trafficType;
  const traffic = typeof trafficType === 'string' ? { trafficType: trafficType.slice(0, 64) } : undefined;
  return { provider, providerSlug, model, ...recordedUsage(ctx), ...traffic };
}

/** Returns true if guardrails have hidden text of this client from the provider, and may have put it back into the reply. */
function showsHiddenText({ guardrails }: RequestContext): boolean {
  const changes = (side: 'input' | 'output') => guardrails?.some((one) => one.side === side && one.transformed) ?? false;
  return changes('input') && changes('output');
}

/** Returns the labels that admins see of the entry of this request. */
export function labelsOf(ctx: RequestContext): EntryLabels {
  const cut = (text: string | null | undefined): string | null => (text ? storableText(text.slice(0, 255)) : null);
  return {
    namespace: cut(ctx.gatewayHeaders.get('cache-namespace')),
    model: cut(ctx.model),
    endpoint: cut(ctx.endpoint?.name),
  };
}

/** Returns the seconds of `cache-control: max-age=N`, used if the config sets none; null if absent or out of range. */
function askedMaxAge(ctx: RequestContext): number | null {
  const seconds = Number(
    /(?:^|,)\s*max-age=(\d{1,9})\s*(?:,|$)/i.exec(ctx.request.header('cache-control') ?? '')?.[1] ?? Number.NaN,
  );
  return seconds >= 60 && seconds <= 7_776_000 ? seconds : null;
}

/** The organisation's TTL is the default and the maximum of a config. */
function ttlMs(maxAgeSeconds: number | null, ceilingSeconds: number | null): number {
  const seconds = maxAgeSeconds ?? ceilingSeconds ?? defaultMaxAgeSeconds;
  return Math.min(seconds, ceilingSeconds ?? seconds) * 1000;
}
