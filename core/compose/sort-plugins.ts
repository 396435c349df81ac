import type { CorePlugin } from '../contract/plugin/core-plugin.ts';
import { stages } from '../contract/plugin/plugin.ts';

/**
 * Sorts built-in plugins by stage, then by their `after`, then by name. An unknown plugin or a cycle keeps its position, and
 * `checkOrder` reports it.
 */
export function sortPlugins(plugins: readonly CorePlugin[]): CorePlugin[] {
  const waiting = [...plugins].sort(
    (a, b) => stages.indexOf(a.stage) - stages.indexOf(b.stage) || (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  );
  const sorted: CorePlugin[] = [];
  while (waiting.length > 0) {
    const isFree = ({ stage, after = [] }: CorePlugin): boolean =>
      !waiting.some((other) => other.stage === stage && after.includes(other.name));
    const next = Math.max(
      0,
      waiting.findIndex((plugin) => plugin.stage === waiting[0]?.stage && isFree(plugin)),
    );
    sorted.push(...waiting.splice(next, 1));
  }
  return sorted;
}
