// The chain. Each plugin names its stage and the plugins it comes after; core/compose/sort-plugins.ts sorts by these. A request passes
// the stages top to bottom and its reply bottom to top: record, auth, config, limits, input-guardrails, cache, strategy,
// output-guardrails. `record` comes first so that its `onEnd` runs last and sees the results of all others.
export { auth } from './auth/index.ts'; //                            auth: verifies the caller
export { cache } from './cache/index.ts'; //                          cache: replies from the cache
export { configResolution } from './config-resolution/index.ts'; //   config: chooses the config and the metadata
export { guardrails } from './guardrails/index.ts'; //                input-guardrails: checks requests and responses
export { limits } from './limits/index.ts'; //                        limits: checks budgets and rate limits
export { record } from './record/index.ts'; //                        record: one record per request
export { strategies } from './strategies/index.ts'; //                strategy: chooses the target, and the next one
