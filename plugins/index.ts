import type { CorePlugin } from '../core/contract/plugin/core-plugin.ts';
import { type AuthKeys, auth } from './auth/index.ts';
import { cache } from './cache/index.ts';
import { configResolution } from './config-resolution/index.ts';
import { limits } from './limits/index.ts';
import { record } from './record/index.ts';
import { strategies } from './strategies/index.ts';

/**
 * Returns the chain. A request passes these top to bottom, its reply bottom to top; `record` stands first so that its `onEnd` runs
 * last and sees the results of all others. The stages input-guardrails and output-guardrails have no built-in plugin yet; third-party
 * plugins are inserted by their stage.
 */
export function builtInPlugins(keys: AuthKeys): readonly CorePlugin[] {
  return [
    record(), //            one record per request, whatever happens
    auth(keys), //          verifies the caller
    configResolution(), //  chooses the config and the metadata
    limits(), //            checks budgets and rate limits
    //                      input guardrails
    cache(), //             replies from the cache
    strategies(), //        chooses the target, and the next one
    //                      output guardrails
  ];
}
