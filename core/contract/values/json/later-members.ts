import type { JsonObject } from './json.ts';

/** Maximum number of members. No format has as many counts. */
const membersMax = 200;

/**
 * Returns the members of an object that arrives in parts, such as the counts of a stream: the later value of a name counts. Members beyond the first
 * 200 are left out, because a provider could send another name with each event, and each copy would be longer.
 */
export function laterMembers(known: JsonObject | null, later: JsonObject): JsonObject {
  const members = { ...known, ...later };
  return Object.keys(members).length > membersMax ? Object.fromEntries(Object.entries(members).slice(0, membersMax)) : members;
}
