import type { StreamDecoder } from '../provider/provider.ts';
import type { JsonObject } from '../values/json.ts';
import type { Usage } from '../values/usage.ts';

/** Reads usage from replies in all known formats, for pass-through routes. */
export interface PassedUsage {
  /**
   * The counts of a reply as usage, by their names alone. `counts` holds the members of every usage object the reply has, later ones
   * over earlier ones. `serviceTier` is what the reply says beside them. Null for counts of no known format.
   */
  read(counts: JsonObject, serviceTier: unknown): Usage | null;
  /** For binary replies: their content type, and a reader of the JSON events in them. */
  readonly frames: { readonly contentType: string; create(): StreamDecoder };
}
