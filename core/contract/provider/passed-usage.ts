import type { HeaderList } from '../values/http/http.ts';
import type { JsonObject } from '../values/json/json.ts';
import { statedCount, type Usage } from '../values/models/usage.ts';
import type { StreamDecoding } from './stream-event.ts';

/** Reads usage from replies in all known formats, for pass-through routes. */
export interface PassedUsage {
  /** Locations of usage in replies. */
  readonly locations: Locations;
  /**
   * Paths among them whose values are counts themselves. If the path leads through a list, objects are in a list, and texts in a map with the
   * number of each. Values at other paths are objects of counts.
   */
  readonly bare: ReadonlySet<string>;
  /**
   * The counts of a reply as usage, by their names alone. `counts` holds the members of every usage object the reply has, later ones over
   * earlier ones. `serviceTier` is the tier in the reply. Null for counts of no known format.
   */
  read(counts: JsonObject, serviceTier: unknown): Usage | null;
  /** Returns the `usage` of a response of OpenAI, with the counts of tools and images that stand beside it, or null. */
  countsOfResponse(response: JsonObject): JsonObject | null;
  /** Returns the counts in the headers of a reply, or null. */
  readHeaders(headers: HeaderList): JsonObject | null;
  /** For binary replies: a reader of the JSON events in them. */
  readonly frames: StreamDecoding;
}

/**
 * Members of a JSON value by name. `true` selects the value. An object selects members inside the value, and inside the elements of an array if
 * the name ends with `[]`.
 */
export interface Locations {
  readonly [name: string]: true | Locations;
}

/** The part of `PassedUsage` that one provider's format declares. */
export interface PassedFormat {
  readonly locations?: Locations;
  readonly bare?: readonly string[];
  /** Returns null if these are not counts of this format. */
  read(counts: JsonObject): Usage | null;
  readHeaders?(headers: HeaderList): JsonObject | null;
}

/** True if one of these members is a count. */
export function hasCount(counts: JsonObject, ...names: readonly string[]): boolean {
  return names.some((name) => !Number.isNaN(statedCount(counts[name])));
}
