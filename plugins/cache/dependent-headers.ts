import type { Plan } from '../../core/contract/plugin/plan.ts';
import { isObject } from '../../core/contract/values/json/json.ts';

const known = new WeakMap<Plan, readonly string[]>();

/**
 * Returns the lower-case names of the client headers on which replies of this plan depend: those that its targets forward, and those that
 * its strategies read (`headers.x-tier`).
 */
export function dependentHeaders(plan: Plan): readonly string[] {
  let names = known.get(plan);
  if (names === undefined) {
    const found = new Set(plan.targets.flatMap((target) => target.forwardHeaders ?? []));
    addFields(plan.config, found);
    names = [...found].sort();
    known.set(plan, names);
  }
  return names;
}

/**
 * Adds the headers of all fields in a config. A name that only looks like a field does no harm: requests that differ in this header
 * have entries of their own.
 */
function addFields(value: unknown, found: Set<string>): void {
  if (typeof value === 'string') addField(value, found);
  else if (Array.isArray(value)) for (const one of value) addFields(one, found);
  else if (isObject(value)) {
    for (const [key, member] of Object.entries(value)) {
      addField(key, found);
      addFields(member, found);
    }
  }
}

function addField(text: string, found: Set<string>): void {
  if (text.startsWith('headers.')) found.add(text.slice('headers.'.length).toLowerCase());
}
