import { type Context, Hono } from 'hono';
import type { GenericSchema, InferOutput } from 'valibot';
import {
  cachedBytesMax,
  claimMs,
  claimQuestion,
  type FoundLine,
  findQuestion,
  frame,
  readVector,
  type SimilarLine,
  similarQuestion,
  storeLine,
  unframe,
  vectorDimensionsMax,
} from '../../../core/contract/protocol/cached-replies.ts';
import { keyPurposes } from '../../../core/contract/protocol/credentials/key-purposes.ts';
import { deriveKey, sealBytes, unsealBytes } from '../../../core/contract/values/credentials/secret.ts';
import { executeBound } from '../../db/execute-bound.ts';
import type { AdminServices } from '../../http/admin-services.ts';
import { invalid } from '../../http/errors.ts';
import { readBytes } from '../../http/request/read-body.ts';
import { validate } from '../../http/request/validate.ts';
import { createClaims } from './claims.ts';
import { latestCreation } from './latest-creation.ts';
import { createRecentReplies, type StoredReply } from './recent-replies.ts';
import { createVectorIndex } from './vector-index.ts';

/** A line of JSON, and the head of the entry within the sealed bytes. */
const lineBytesMax = 4_096;
const storedBytesMax = cachedBytesMax + 2 * lineBytesMax + vectorDimensionsMax * 4;
/** Longest lifetime of an entry: the maximum of `cache_ttl`. */
const ttlMsMax = 25_923_000_000;

const storeStatement = `insert into cached_replies
    (workspace_id, digest, organisation_id, sealed, bytes, created_at, expires_at, namespace, model, endpoint, partition, vector)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
  on conflict (workspace_id, digest) do update
  set sealed = excluded.sealed, bytes = excluded.bytes, created_at = excluded.created_at, expires_at = excluded.expires_at,
      namespace = excluded.namespace, model = excluded.model, endpoint = excluded.endpoint,
      partition = excluded.partition, vector = excluded.vector, seq = excluded.seq`;

const findStatement = {
  name: 'find_cached_reply',
  text: 'select sealed, created_at, expires_at from cached_replies where workspace_id = ? and digest = ?',
};

interface Row {
  readonly sealed: Uint8Array;
  readonly created_at: Date | string;
  readonly expires_at: Date | string;
}

/**
 * Bytes of entries in memory in front of the embedded database, whose statements wait for each other. With PostgreSQL, other control planes
 * may replace a row.
 */
const recentBytesMax = 16 * 1_048_576;

/** Maximum bytes of the body of `find`. */
export const findBytesMax = lineBytesMax;

export interface CachedReplies {
  /** All calls of `core/contract/protocol/cached-replies.ts`. */
  readonly app: Hono;
  /** Serves `find`: takes the body of a request and returns that of the reply. Rejects with AdminError. */
  find(body: Uint8Array): Promise<Uint8Array>;
}

/** Serves the store of cached replies to gateways. The cluster key has been checked. */
export function createCachedReplies({ database, clock, settings }: AdminServices): CachedReplies {
  const app = new Hono();
  const claims = createClaims(clock, claimMs);
  const recent = createRecentReplies(settings.databaseUrl === null ? recentBytesMax : 0);
  // A vector reveals much of its text, so rows hold it sealed.
  const vectorKey = deriveKey(settings.clusterKey, keyPurposes.cachedVector);
  const index = createVectorIndex(({ digest, vector }, workspaceId) =>
    readVector(unsealBytes(vectorKey, vector, keyOf(workspaceId, digest))),
  );

  app.post('/find', async (c: Context) => binary(await find(await readBytes(c.req, findBytesMax))));

  app.post('/store', async (c: Context) => {
    const { line, bytes } = await read(c, storeLine, storedBytesMax);
    const { workspace_id: workspaceId, digest, partition } = line;
    const vector = bytes.subarray(0, line.dimensions * 4);
    const sealed = bytes.subarray(line.dimensions * 4);
    if (sealed.length === 0 || (partition !== null && vector.length === 0)) throw invalid('body: the entry is not complete');
    const key = keyOf(workspaceId, digest);
    const createdAtMs = clock.now();
    const expiresAtMs = createdAtMs + Math.min(line.ttl_ms, ttlMsMax);
    const values = [
      ...[workspaceId, digest, line.organisation_id, Buffer.from(sealed), sealed.length],
      ...[new Date(createdAtMs), new Date(expiresAtMs), line.namespace, line.model, line.endpoint],
      ...(partition === null ? [null, null] : [partition, sealBytes(vectorKey, vector, key)]),
    ];
    const stored = { sealed, createdAtMs, expiresAtMs };
    await recent.store(key, line.generation, stored, () => executeBound(database.em(), storeStatement, values));
    claims.end(key, line.holder);
    return c.json({});
  });

  app.post('/similar', async (c: Context) => {
    const { line, bytes } = await read(c, similarQuestion, lineBytesMax + vectorDimensionsMax * 4);
    if (bytes.length === 0 || bytes.length % 4 !== 0) throw invalid('body: a vector of 32-bit floats is expected');
    const found = await index.nearest(database.em(), {
      ...{ workspaceId: line.workspace_id, partition: line.partition, minScore: line.min_score },
      ...{ vector: readVector(bytes), nowMs: clock.now() },
    });
    if (found === null) return binary(framed({ state: 'none' }));
    const { digest, score, ttlMs } = found;
    return binary(framed({ state: 'hit', ttl_ms: ttlMs, digest, score: Math.min(1, score) }, found.sealed));
  });

  app.post('/renew', async (c: Context) => {
    const { line } = await read(c, claimQuestion);
    claims.renew(keyOf(line.workspace_id, line.digest), line.holder);
    return c.json({});
  });

  app.post('/release', async (c: Context) => {
    const { line } = await read(c, claimQuestion);
    claims.end(keyOf(line.workspace_id, line.digest), line.holder);
    return c.json({});
  });
  return { app, find };

  async function find(body: Uint8Array): Promise<Uint8Array> {
    const { line } = parse(body, findQuestion);
    const { workspace_id: workspaceId, digest, holder, wait_ms: waitMs } = line;
    const key = keyOf(workspaceId, digest);
    const found = await findOrClaim(line, key, holder);
    if (found !== null) return found;
    if (waitMs === 0) return framed({ state: 'pending' });
    await claims.ended(key, waitMs);
    return (await findOrClaim(line, key, holder)) ?? framed({ state: 'pending' });
  }

  /**
   * Returns the reply, or the claim of the holder; null if another holder has the claim. The claim is taken before the row is read: a read
   * that began before the leader stored its reply finds nothing, and must not take the claim that the leader ended meanwhile.
   */
  async function findOrClaim(line: InferOutput<typeof findQuestion>, key: string, holder: string): Promise<Uint8Array | null> {
    const isClaimed = claims.take(key, holder);
    const found = await findReply(line).catch((thrown: unknown) => {
      if (isClaimed) claims.end(key, holder);
      throw thrown;
    });
    if (found === null) return isClaimed ? framed({ state: 'claimed' }) : null;
    if (isClaimed) claims.end(key, holder);
    return framed({ state: 'hit', ttl_ms: found.ttlMs }, found.sealed);
  }

  async function findReply({ workspace_id: workspaceId, digest, generation }: InferOutput<typeof findQuestion>) {
    const found = await recent.find(keyOf(workspaceId, digest), generation, () => readReply(workspaceId, digest));
    const nowMs = clock.now();
    if (found === null || found.expiresAtMs <= nowMs || found.createdAtMs > latestCreation(nowMs)) return null;
    return { sealed: found.sealed, ttlMs: found.expiresAtMs - nowMs };
  }

  async function readReply(workspaceId: string, digest: string): Promise<StoredReply | null> {
    const [row] = await database.ask<Row>(findStatement, [workspaceId, digest]);
    if (!row) return null;
    const [createdAtMs, expiresAtMs] = [row.created_at, row.expires_at].map((at) => new Date(at).getTime()) as [number, number];
    return { sealed: row.sealed, createdAtMs, expiresAtMs };
  }
}

async function read<Schema extends GenericSchema>(
  c: Context,
  schema: Schema,
  bytesMax = lineBytesMax,
): Promise<{ line: InferOutput<Schema>; bytes: Uint8Array }> {
  return parse(await readBytes(c.req, bytesMax), schema);
}

function parse<Schema extends GenericSchema>(body: Uint8Array, schema: Schema): { line: InferOutput<Schema>; bytes: Uint8Array } {
  try {
    const { line, bytes } = unframe(body);
    return { line: validate(schema, line, 'body'), bytes };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw invalid('body: a line of JSON is expected');
    throw thrown;
  }
}

function framed(line: FoundLine | SimilarLine, bytes: Uint8Array | null = null): Uint8Array {
  return frame(line, bytes);
}

function binary(bytes: Uint8Array): Response {
  return new Response(Buffer.from(bytes), { headers: { 'content-type': 'application/octet-stream' } });
}

function keyOf(workspaceId: string, digest: string): string {
  return `${workspaceId}/${digest}`;
}
