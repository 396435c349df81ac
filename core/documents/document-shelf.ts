import type { LRUCache } from 'lru-cache';
import { newEntryCache } from '../contract/entry-cache.ts';
import type { DocumentKind } from '../contract/protocol/documents.ts';
import type { GatewayError } from '../contract/values/errors.ts';

/** One known document with everything that was compiled from it. */
export class Entry {
  readonly id: string;
  readonly document: object;
  /** The document is at least as new as this revision. */
  revision: number;
  /** False from the notice of a change until the document is read again. The only flag that the hot path checks. */
  fresh: boolean;
  /** True while the document is read again in the background and the old one serves. */
  refreshing = false;
  /** Used since it was last read. Only such entries are read again before their next use. */
  used = true;
  /** Until then (monotonic ms) a failed refresh is not retried; 0 = none failed. */
  retryAtMs = 0;
  /** Compiled values by view number; holes are not compiled yet. */
  readonly derived: unknown[] = [];

  constructor(id: string, document: object, revision: number, fresh: boolean) {
    this.id = id;
    this.document = document;
    this.revision = revision;
    this.fresh = fresh;
  }
}

/** The reason why an id has no entry: it does not exist (`error` null), or its document cannot be used. */
interface Absence {
  readonly error: GatewayError | null;
  readonly untilMs: number;
}

/** A look-up in progress. Concurrent callers for the same id share it. */
export interface Flight {
  /** A reply older than this revision predates a known change: read again. */
  minRevision: number;
  /** Set when everything read so far must be thrown away. */
  again: boolean;
  promise: Promise<Entry | null>;
}

/** Everything the store holds of one kind. A map per kind spares the hot path gluing kind and id together. */
export interface Shelf {
  readonly kind: DocumentKind;
  readonly entries: LRUCache<string, Entry>;
  readonly absences: LRUCache<string, Absence>;
  readonly flights: Map<string, Flight>;
  readonly views: ((document: object) => unknown)[];
  /** True if an old document must not be served between the notice of its change and the next read, because it grants rights. */
  readonly waitsForFresh: boolean;
}

/** Ids remembered as unknown, per kind: enough to blunt a flood of made-up keys, little enough to be forgotten. */
const absencesMax = 10_000;

export function createShelf(kind: DocumentKind, entriesMax: number): Shelf {
  return {
    kind,
    entries: newEntryCache(entriesMax),
    absences: newEntryCache(Math.min(absencesMax, entriesMax)),
    flights: new Map(),
    views: [],
    waitsForFresh: kind === 'api-key' || kind === 'organisation' || kind === 'user',
  };
}

/** A compilation that failed. It is stored beside the document, so that it is not repeated for every request. */
export class CompileFailure {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}
