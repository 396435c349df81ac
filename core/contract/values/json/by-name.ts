/**
 * Returns a table without inherited members. Clients and providers choose the names that are looked up, and `constructor` would find a function in
 * an ordinary object.
 */
export function byName<Value>(table: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.assign(Object.create(null), table);
}
