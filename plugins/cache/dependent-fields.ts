import type { Plan } from '../../core/contract/plugin/plan.ts';
import { isObject } from '../../core/contract/values/json/json.ts';

/** Names of client headers, in lower case, and of metadata on which replies of a plan depend. */
export interface DependentFields {
  readonly headers: readonly string[];
  readonly metadata: readonly string[];
}

const known = new WeakMap<Plan, DependentFields>();

/**
 * Returns the headers that targets of this plan forward or strategies read, and the metadata that conditions read (`metadata.tier`). Sticky
 * metadata is left out: it chooses among the targets of a load balancer, which share the entries of a namespace.
 */
export function dependentFields(plan: Plan): DependentFields {
  let fields = known.get(plan);
  if (fields === undefined) {
    const forwarded = plan.targets.flatMap((target) => target.forwardHeaders ?? []);
    const headers = namesIn(textsIn(plan.config), 'headers.').map((name) => name.toLowerCase());
    const metadata = namesIn(textsIn(plan.config, 'sticky'), 'metadata.');
    fields = { headers: [...new Set([...forwarded, ...headers])].sort(), metadata: metadata.sort() };
    known.set(plan, fields);
  }
  return fields;
}

/**
 * Returns all keys and texts of a config, without those below the key `omitted`. A text that only looks like a field does no harm: requests
 * that differ in it have entries of their own.
 */
function textsIn(config: unknown, omitted?: string, texts = new Set<string>()): Set<string> {
  if (typeof config === 'string') texts.add(config);
  else if (Array.isArray(config)) for (const one of config) textsIn(one, omitted, texts);
  else if (isObject(config)) {
    for (const [key, member] of Object.entries(config)) {
      texts.add(key);
      if (key !== omitted) textsIn(member, omitted, texts);
    }
  }
  return texts;
}

function namesIn(texts: ReadonlySet<string>, root: string): string[] {
  return [...texts].filter((text) => text.startsWith(root)).map((text) => text.slice(root.length));
}
