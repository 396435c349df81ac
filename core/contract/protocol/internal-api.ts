import * as v from 'valibot';
import { changeNotice } from './notices/change-notice.ts';

/**
 * The control plane's internal HTTP API, for gateways only: `Authorization: Bearer <CLUSTER_KEY as given>`; a user's key is
 * refused there, and the gateway never forwards `/internal/` paths.
 *
 * | Call | Reply |
 * |---|---|
 * | `GET /internal/v1/documents/{kind}/{encoded id}` | 200 `documentReply`; an unknown id is 200 with `document: null` |
 * | `POST /internal/v1/api-keys` (`keysQuestion`) | 200 `keysReply`: many keys at once, each as in the call above |
 * | `GET /internal/v1/changes?after={revision}&mark={mark}` | 200 `changesReply` |
 * | `POST /internal/v1/records` (a JSON array of records, ≤ 1,000 or 4 MiB) | 200 `recordsReply` |
 * | `POST /internal/v1/record-contents` (a JSON array of `recordContent` of `record-contents.ts`, ≤ 100) | 200 `{}` |
 * | `POST /internal/v1/leases` (`leasesBody` of `leases.ts`) | 200 `leasesReply` |
 * | `POST /internal/v1/instances` (`instanceReport` of `instances.ts`) | 200 `instanceReply` |
 * | `GET /internal/v1/rates?workspace=…&provider=…&slug=…&model=…` | 200 `ratesReply` |
 * | `POST /internal/v1/cached-replies/{call}` | see `cached-replies.ts` |
 * | `GET /internal/v1/key-check` | 200 `keyCheckReply` |
 * | `POST /internal/v1/mcp-tools` (`toolReport` of `tool-pins.ts`) | 200 `{}` |
 * | `POST /internal/v1/mcp-tokens` (`mcpTokenQuestion` of `mcp-connection.ts`) | 200 `mcpTokenReply` |
 * | `POST /internal/v1/token-refusals` (`tokenRefusals` of `tokens.ts`) | 200 `{}` |
 *
 * A status other than 200 means that the data is unavailable, never that it does not exist.
 */
export const internalPaths = {
  documents: '/internal/v1/documents',
  keys: '/internal/v1/api-keys',
  changes: '/internal/v1/changes',
  records: '/internal/v1/records',
  recordContents: '/internal/v1/record-contents',
  leases: '/internal/v1/leases',
  rates: '/internal/v1/rates',
  tokenRefusals: '/internal/v1/token-refusals',
  mcpTools: '/internal/v1/mcp-tools',
  keyCheck: '/internal/v1/key-check',
  instances: '/internal/v1/instances',
  mcpTokens: '/internal/v1/mcp-tokens',
} as const;

export const keyCheckReply = v.object({
  /** A text that only the database's ENCRYPTION_KEY decrypts; see `opensKeyCheck`. */
  encryption_key: v.string(),
  /**
   * Pepper of the digests of API keys, sealed with the transport key, aad `key-check/api-key-pepper`. Absent in older control planes:
   * it is then derived from ENCRYPTION_KEY.
   */
  api_key_pepper: v.optional(v.string()),
});

export type KeyCheckReply = v.InferOutput<typeof keyCheckReply>;

export const documentReply = v.object({
  /** Newest revision at the time of reading: the document is at least that new. */
  revision: v.number(),
  document: v.nullable(v.unknown()),
});

/** Maximum number of keys in one call. */
export const keysPerCallMax = 200;

/** Public ids of keys. */
export const keysQuestion = v.object({
  ids: v.pipe(v.array(v.pipe(v.string(), v.maxLength(600))), v.minLength(1), v.maxLength(keysPerCallMax)),
});

export const keysReply = v.object({
  revision: v.number(),
  /** In the order of the ids; null for an unknown one. */
  documents: v.array(v.nullable(v.unknown())),
});

export const changesReply = v.object({
  /** Newest revision the control plane has. */
  revision: v.number(),
  /**
   * True if `after` is older than the stored changes (or newer than the newest), or is another change than the one of `mark`: drop all
   * documents, then follow from `revision`.
   */
  reset: v.boolean(),
  /** Oldest first, at most 5,000; when the last one is older than `revision`, ask again. */
  changes: v.array(changeNotice),
  /**
   * Distinguishes the last of these changes, or the one of `revision` if there are none, from another change with the same revision. A
   * database restored from a backup assigns revisions a second time. Null or absent: unknown.
   */
  mark: v.optional(v.nullable(v.string())),
});

export const recordsReply = v.object({
  inserted: v.number(),
  duplicates: v.number(),
  /** Ids of records that can never be stored (malformed); they are set aside, not sent again. */
  rejected: v.array(v.string()),
});

export type DocumentReply = v.InferOutput<typeof documentReply>;
export type KeysReply = v.InferOutput<typeof keysReply>;
export type ChangesReply = v.InferOutput<typeof changesReply>;
export type RecordsReply = v.InferOutput<typeof recordsReply>;

/**
 * Calls the control plane. `main` provides it, because it owns the sockets, the base URL and the bearer. Resolves with any
 * status; rejects if no complete reply arrives within `timeoutMs`.
 */
export type InternalFetch = (
  method: 'GET' | 'POST',
  path: string,
  /** JSON bytes. */
  body: Uint8Array | null,
  timeoutMs: number,
) => Promise<{ readonly status: number; readonly body: Uint8Array }>;
