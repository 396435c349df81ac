import * as v from 'valibot';
import type { SavedCall } from '../plugin/record/record.ts';
import type { Maybe } from '../values/maybe.ts';

/** A reply that the cache repeats. */
export interface CachedReply {
  /** The target that gave the reply, and its provider. Hits repeat their headers. */
  readonly targetPath: string | null;
  readonly provider: string | null;
  readonly contentType: string;
  readonly form: ReplyForm;
  /** The content encoding of a reply that was passed through encoded; otherwise null. */
  readonly contentEncoding: string | null;
  /** The call that gave the reply, from which its cost follows. Absent in entries of earlier versions. */
  readonly call?: SavedCall;
  readonly body: Uint8Array;
}

/** JSON or events, the latter with or without an event for usage that clients of chat completions ask for. */
export type ReplyForm = 'plain' | 'stream' | 'stream-with-usage';

/** Names an entry. */
export interface CacheKey {
  readonly organisationId: string;
  readonly workspaceId: string;
  /** Digest of everything the reply depends on, the workspace included. */
  readonly digest: string;
  /** Entries in memory that were stored for an earlier generation are not used: the shared store may have lost them. */
  readonly generation: number;
}

/** The place of a request among those that may share a reply with it although their text differs. */
export interface SimilarKey {
  /** Digest of everything that must be equal: all of the request but its text, the facts in the text, and the embedding model. */
  readonly partition: string;
  /** The embedding of the text, of length 1. */
  readonly vector: Float32Array;
}

/** A stored reply to a request whose text is similar. */
export interface SimilarReply {
  readonly reply: CachedReply;
  readonly ttlMs: number;
}

/** The labels of an entry that admins see. */
export interface EntryLabels {
  readonly namespace: string | null;
  readonly model: string | null;
  /** Name of the endpoint, such as `chatComplete`. */
  readonly endpoint: string | null;
}

/** A reply to store. `similar` is null if the reply may not serve requests with another text. */
export interface StoredReply {
  readonly reply: CachedReply;
  readonly ttlMs: number;
  readonly labels: EntryLabels;
  readonly similar: SimilarKey | null;
}

/** End of a request that leads a flight: a reply to store, no reply, or a client that disconnected. */
export type LeadResult = StoredReply | 'failed' | 'aborted';

/** Equal requests at the same time form a flight. The first one leads: it calls the provider, and the others wait for its reply. */
export type Joined =
  | { readonly kind: 'hit'; readonly reply: CachedReply }
  /** The caller leads. It must call `end` exactly once. */
  | { readonly kind: 'lead'; end(result: LeadResult): void }
  /** The caller calls the provider itself and stores nothing: the leader failed, or took too long. */
  | { readonly kind: 'alone' };

/** Replies by key, in the memory of this process and in a store that all gateways share. */
export interface ReplyCache {
  /** Returns the entry from memory or joins the flight of the key. */
  join(key: CacheKey): Maybe<Joined>;
  /** Returns the most similar reply of the partition with at least this similarity; null if there is none or the store is too slow. */
  similar(key: CacheKey, similar: SimilarKey, minScore: number): Promise<SimilarReply | null>;
  /** Removes the entry from the memory of all gateways and returns a lead without followers, which replaces the stored entry. */
  refresh(key: CacheKey): Extract<Joined, { kind: 'lead' }>;
}

/**
 * Calls of the internal API, each a POST of one line of JSON and the bytes that follow it. Vectors are 32-bit floats, little-endian.
 *
 * | Call | Body | Reply |
 * | --- | --- | --- |
 * | `find` | `findQuestion` | one line `foundLine`, followed by the sealed entry if its state is `hit` |
 * | `similar` | `similarQuestion` and the vector | one line `similarLine`, followed by the sealed entry if its state is `hit` |
 * | `store` | `storeLine`, the vector if it has dimensions, and the sealed entry | `{}` |
 * | `renew`, `release` | `claimQuestion` | `{}` |
 */
export const cachedRepliesPath = '/internal/v1/cached-replies';

/** Milliseconds that a claim lasts unless its holder renews it: after the death of a leader, another request takes over. */
export const claimMs = 5_000;

/** Bytes of a reply that the cache stores. */
export const cachedBytesMax = 4 * 1024 * 1024;

/** Most milliseconds that `find` may wait for the holder of a claim. */
export const findWaitMsMax = 2_000;

const digest = v.pipe(v.string(), v.regex(/^[\w-]{1,64}$/));
const holder = v.pipe(v.string(), v.minLength(1), v.maxLength(64));

export const claimQuestion = v.strictObject({ workspace_id: v.pipe(v.string(), v.uuid()), digest, holder });

/** `CacheKey.generation`. Without it the control plane reads its table and not its memory. */
const generation = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)));

export const findQuestion = v.strictObject({
  ...claimQuestion.entries,
  generation,
  /** Waits this long if another holder has the claim. */
  wait_ms: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(findWaitMsMax)),
});

/** Most dimensions of an embedding. */
export const vectorDimensionsMax = 4_096;

const label = v.nullable(v.pipe(v.string(), v.maxLength(255)));

export const storeLine = v.strictObject({
  ...claimQuestion.entries,
  organisation_id: v.pipe(v.string(), v.uuid()),
  ttl_ms: v.pipe(v.number(), v.integer(), v.minValue(1)),
  generation,
  namespace: label,
  model: label,
  endpoint: label,
  /** Null: the entry is found by its digest only, and has no vector. */
  partition: v.nullable(digest),
  dimensions: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(vectorDimensionsMax)),
});

export const similarQuestion = v.strictObject({
  workspace_id: v.pipe(v.string(), v.uuid()),
  partition: digest,
  min_score: v.pipe(v.number(), v.minValue(-1), v.maxValue(1)),
});

export const similarLine = v.variant('state', [
  v.object({ state: v.literal('hit'), ttl_ms: v.number(), digest, score: v.number() }),
  v.object({ state: v.literal('none') }),
]);
export type SimilarLine = v.InferOutput<typeof similarLine>;

/** The bytes of a vector. */
export function vectorBytes(vector: Float32Array): Uint8Array {
  return new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** Reads a vector from a copy of its bytes, because they need not be aligned. Throws RangeError if the length is no multiple of 4. */
export function readVector(bytes: Uint8Array): Float32Array {
  return new Float32Array(Uint8Array.from(bytes).buffer);
}

/** `claimed`: the caller leads. `pending`: another holder has the claim. */
export const foundLine = v.variant('state', [
  v.object({ state: v.literal('hit'), ttl_ms: v.number() }),
  v.object({ state: v.picklist(['claimed', 'pending']) }),
]);

export type FoundLine = v.InferOutput<typeof foundLine>;

/** See `dropSubject`. */
export const dropNotice = v.object({ digest });
export type DropNotice = v.InferOutput<typeof dropNotice>;

const newline = 0x0a;

/** One line of JSON and the bytes behind it. */
export function frame(line: object, bytes: Uint8Array | null): Uint8Array {
  const head = Buffer.from(`${JSON.stringify(line)}\n`);
  return bytes === null ? head : Buffer.concat([head, bytes]);
}

/** Reverses `frame`. Throws SyntaxError if there is no line of JSON. */
export function unframe(framed: Uint8Array): { readonly line: unknown; readonly bytes: Uint8Array } {
  // Uses a Buffer over the same memory: its `indexOf` is native, and the entry may be large.
  const buffer = Buffer.from(framed.buffer, framed.byteOffset, framed.byteLength);
  const end = buffer.indexOf(newline);
  if (end === -1) throw new SyntaxError('a line of JSON is expected');
  return { line: JSON.parse(buffer.toString('utf8', 0, end)), bytes: framed.subarray(end + 1) };
}
