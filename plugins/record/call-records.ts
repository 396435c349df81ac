/**
 * Returns the part of a record about a call of a tool or an agent: the call without the id of its message, which is no part of records.
 * The member stays, because a copy without it takes five times as long.
 */
export function callRecord<Call extends object>(call: Call): Omit<Call, 'id'> & { id: undefined } {
  return { ...call, id: undefined };
}
