import { hash } from 'node:crypto';
import { type Dimension, dimensions } from './dimensions.ts';
import type { Grain } from './grains.ts';

export type Value = string | number | null;

/** Values of the dimensions that a grain keeps, which identify a row within its organisation, grain and time. */
export interface RollupName {
  /** Digest of the values, as hexadecimal digits. */
  readonly key: string;
  /** The values as elements of arrays in the text form of PostgreSQL, in the order of `dimensions`. */
  readonly elements: readonly (string | number)[];
}

/** The element for null. */
export const nullElement = 'NULL';

/** A step on the path from an organisation to the names of its rows: the value of one dimension. Names with the same first values share steps. */
export interface Step {
  /** Index of the step before, plus one. 0: the organisation. */
  readonly parent: number;
  /** Index of this step among those that follow the same one. */
  readonly slot: number;
  /** Index of the dimension. */
  readonly dimension: number;
  /** True if rows of requests without a value are not written. */
  readonly isRequired: boolean;
  /** Indices of the grains whose names end here. */
  readonly ends: readonly number[];
}

/** Order in which values are looked up: dimensions that have few values for those before them come first, so that there are few prefixes. */
const lookUpOrder: readonly Dimension[] = [
  ...(['workspace_id', 'status', 'api_key_id', 'user_id', 'provider', 'provider_slug', 'model'] as const),
  ...(['prompt_slug', 'prompt_version', 'config_slug', 'end_user'] as const),
];

/** Returns the steps to the names of these grains. Each step comes after its parent. */
export function stepsTo(grains: readonly Grain[]): readonly Step[] {
  const steps: (Step & { readonly ends: number[] })[] = [];
  for (const [index, { keeps }] of grains.entries()) {
    let parent = 0;
    for (const name of lookUpOrder.filter((one) => keeps.includes(one))) {
      const dimension = dimensions.indexOf(name);
      const siblings = steps.filter((step) => step.parent === parent);
      const known = siblings.find((step) => step.dimension === dimension);
      if (!known) steps.push({ parent, slot: siblings.length, dimension, isRequired: name === 'end_user', ends: [] });
      parent = 1 + (known ? steps.indexOf(known) : steps.length - 1);
    }
    steps[parent - 1]?.ends.push(index);
  }
  return steps;
}

/** The values up to one step. */
export class Prefix {
  readonly name: RollupName | null;
  /** Number of the batch that last had rows of this name, and the index of its last such row. Numbers keep prefixes free of references to batches. */
  batch = 0;
  row = -1;
  #value: Value = null;
  #prefix: Prefix | null = null;
  /** Prefixes after other values. Most prefixes have one successor, which is found without a map. */
  #others: Map<Value, Prefix> | null = null;
  /** Has the successors in the next slot. Few prefixes have any, and with an array of slots in each, sums took 1.5 times as long. */
  #sibling: Prefix | null = null;

  constructor(name: RollupName | null) {
    this.name = name;
  }

  /** Returns the prefix that is one value longer. */
  next(slot: number, value: Value): Prefix | undefined {
    let from: Prefix | null = this;
    for (let at = 0; at < slot && from !== null; at++) from = from.#sibling;
    if (from === null || from.#prefix === null) return undefined;
    return from.#value === value ? from.#prefix : from.#others?.get(value);
  }

  add(slot: number, value: Value, prefix: Prefix): void {
    let from: Prefix = this;
    for (let at = 0; at < slot; at++) {
      from.#sibling ??= new Prefix(null);
      from = from.#sibling;
    }
    if (from.#prefix === null) {
      from.#value = value;
      from.#prefix = prefix;
      return;
    }
    from.#others ??= new Map();
    from.#others.set(value, prefix);
  }
}

/** Returns the name of rows that keep these dimensions, from the values of all. */
export function nameOf(values: readonly Value[], keeps: readonly Dimension[]): RollupName {
  const kept = values.map((value, at) => (keeps.includes(dimensions[at] as Dimension) ? value : null));
  return { key: hash('sha256', JSON.stringify(kept)).slice(0, 32), elements: kept.map(elementOf) };
}

function elementOf(value: Value): string | number {
  if (typeof value !== 'string') return value ?? nullElement;
  return `"${value.replace(/["\\]/g, '\\$&')}"`;
}
