import type { Plugin } from '../core/contract/plugin/plugin.ts';
import { auth } from './auth/index.ts';
import { cache } from './cache/index.ts';
import { configResolution } from './config-resolution/index.ts';
import { limits } from './limits/index.ts';
import { record } from './record/index.ts';
import { strategies } from './strategies/index.ts';

/**
 * The chain. A request meets these top to bottom, its reply bottom to top; `record` stands first so that its `onEnd` runs last
 * and sees what everybody else did. Stages without a built-in plugin yet (input-guardrails, output-guardrails) are
 * open to third-party ones, which take their place by stage.
 */
export const builtInPlugins: readonly Plugin[] = [
  record, //            one record per request, whatever happens
  auth, //              who is calling
  configResolution, //  which config, which metadata
  limits, //            is there anything left
  //                    input guardrails
  cache, //             answered before?
  strategies, //        which target, and the next one
  //                    output guardrails
] as readonly Plugin[];
