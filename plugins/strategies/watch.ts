import type { AttemptResult, RequestContext } from '../../core/contract/plugin/context.ts';
import type { CoreHooks } from '../../core/contract/plugin/core-plugin.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import type { Node } from './node.ts';

/** Called when a request arrives at a target. The returned function is called when it leaves, with its last result or null. */
export type Watch = (ctx: RequestContext) => (last: AttemptResult | null) => void;

/** The watchers of targets, by the index of the target. */
export class Watches {
  readonly #byTarget: Watch[][] = [];
  #count = 0;

  add(target: number, watch: Watch): void {
    this.#byTarget[target] ??= [];
    this.#byTarget[target].push(watch);
    this.#count++;
  }

  /** One watch for each child of a strategy, which sees all targets below it. */
  addChildren(children: readonly Node[], watch: (child: number) => Watch): void {
    for (const [index, { from, to }] of children.entries()) {
      const own = watch(index);
      for (let target = from; target < to; target++) this.add(target, own);
    }
  }

  /** Returns the hook that runs the watchers; empty if there are none. */
  hooks(): Pick<CoreHooks, 'onTargetStart'> {
    if (this.#count === 0) return {};
    return {
      onTargetStart: (ctx: RequestContext, target: Target) => {
        const watches = this.#byTarget[target.index];
        if (watches === undefined) return null;
        const leave = watches.map((watch) => watch(ctx));
        return (last) => {
          for (const each of leave) each(last);
        };
      },
    };
  }
}
