import type { JsonObject } from './json.ts';

/** The places of the members of a JSON object in its bytes, so that one can be replaced while the others keep their bytes. */
export interface JsonLayout {
  readonly bytes: Uint8Array;
  /** The object as it was parsed. */
  readonly parsed: JsonObject;
  /** Three indexes of each member, in order: of its name, of what follows its colon, and of what follows its value. */
  readonly ranges: readonly number[];
}
