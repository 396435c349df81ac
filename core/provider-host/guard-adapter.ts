import type { ModelSources } from '../contract/provider/model-sources.ts';
import { type Operation, operationNames, type ProviderAdapter } from '../contract/provider/provider.ts';
import { isObject } from '../contract/values/json/json.ts';
import { emptyUsage, type Usage } from '../contract/values/models/usage.ts';

/**
 * Returns a third-party adapter whose usage is checked when it is read: a malformed count would make the record unwritable. Throws an Error
 * that names the missing member. Adapters and operations are plain objects, because methods of classes would not be copied.
 */
export function guardAdapter(adapter: ProviderAdapter): ProviderAdapter {
  const copy = { ...adapter };
  const issue = (text: string): Error => new Error(`PROVIDERS: the adapter of ${adapter.id}: ${text}`);
  for (const name of ['baseUrl', 'headers', 'error'] as const)
    if (typeof copy[name] !== 'function') throw issue(`${name}: expected a function`);
  // A misspelt member would let restricted models pass.
  for (const [name, source] of Object.entries(copy.modelSources ?? {})) {
    const kind = Object.hasOwn(sourceKinds, name) ? sourceKinds[name as keyof ModelSources] : null;
    if (kind === null) throw issue(`modelSources.${name}: unknown member`);
    if (kind === 'list' ? !Array.isArray(source) : typeof source !== 'function')
      throw issue(`modelSources.${name}: expected a ${kind}`);
  }
  if (!isObject(copy.operations)) throw issue('operations: expected an object');
  const operations = Object.entries(copy.operations).map(([name, operation]) => {
    if (!(operationNames as readonly string[]).includes(name)) throw issue(`operations.${name}: unknown operation`);
    const own = { ...operation };
    for (const member of ['path', 'usage', 'streamReader'] as const)
      if (typeof own[member] !== 'function') throw issue(`operations.${name}.${member}: expected a function`);
    return [name, guardOperation(own)] as const;
  });
  return { ...copy, operations: Object.fromEntries(operations) };
}

const sourceKinds: Readonly<Record<keyof ModelSources, 'function' | 'list'>> = {
  inPath: 'function',
  inBody: 'function',
  hidden: 'function',
  headers: 'list',
};

function guardOperation(operation: Operation): Operation {
  return {
    ...operation,
    usage: (reply, call) => checked(operation.usage(reply, call)),
    streamReader() {
      const reader = operation.streamReader();
      const usage = reader.usage.bind(reader);
      reader.usage = () => checked(usage());
      return reader;
    },
  };
}

/** Throws an Error that names the malformed member. */
function checked(usage: Usage | null): Usage | null {
  if (usage === null) return null;
  if (!isObject(usage) || !isObject(usage.units)) throw new Error('usage: expected null, or emptyUsage() with counts');
  for (const name of countNames) checkCount(name, usage[name]);
  for (const [unit, amount] of Object.entries(usage.units)) checkCount(`units.${unit}`, amount);
  return usage;
}

const countNames = Object.entries(emptyUsage()).flatMap(([name, value]) => (typeof value === 'number' ? [name] : []));

function checkCount(name: string, count: unknown): void {
  if (typeof count === 'number' && count >= 0 && count < Number.POSITIVE_INFINITY) return;
  throw new Error(`usage.${name}: got ${typeof count === 'number' ? count : typeof count}, expected a number of at least 0`);
}
