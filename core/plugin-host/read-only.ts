const copies = new WeakMap<object, object>();

/**
 * Returns a copy of plain data whose members cannot be changed at any depth; the same copy for the same value. Plugins get state in this
 * form that requests share: a write to the state itself would apply to later requests of other callers.
 */
export function readOnly<T extends object>(value: T): T {
  let copy = copies.get(value);
  if (!copy) {
    copy = readOnlyNow(value);
    copies.set(value, copy);
  }
  return copy as T;
}

/** Returns a new copy at each call, for values that change while a request runs. */
export function readOnlyNow<T extends object>(value: T): T {
  return freeze(structuredClone(value)) as T;
}

function freeze(value: unknown): unknown {
  // Elements of a byte array cannot be frozen.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  // `Object.freeze` does not cover the values of a set.
  if (value instanceof Set) Object.assign(value, { add: refuse, delete: refuse, clear: refuse });
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}

function refuse(): never {
  throw new TypeError('this set is for reading only');
}
