/** The values that names refer to: the variables, and inside of sections their items. */
export interface Scope {
  readonly view: unknown;
  readonly parent: Scope | null;
}

/** The result of a look-up of a name that no scope has. */
export const missing: unique symbol = Symbol('missing');

/** Returns the value of a name in the innermost scope that has it, by own properties only. */
export function lookUp(scope: Scope, path: readonly string[]): unknown {
  if (path.length === 1) {
    const name = path[0] as string;
    if (name === '.') return scope.view;
    for (let at: Scope | null = scope; at !== null; at = at.parent) {
      const view = at.view;
      if (typeof view === 'object' && view !== null && Object.hasOwn(view, name)) return (view as Record<string, unknown>)[name];
    }
    return missing;
  }
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const value = follow(at.view, path);
    if (value !== missing) return value;
  }
  return missing;
}

function follow(view: unknown, path: readonly string[]): unknown {
  let value = view;
  for (const name of path) {
    // A string has the own property `length`, which Mustache can read.
    if (value === null || value === undefined || !Object.hasOwn(Object(value), name)) return missing;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}
