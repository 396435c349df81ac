import type { RequestContext } from '../../contract/plugin/context.ts';
import { GatewayError } from '../../contract/values/errors/errors.ts';
import { isPromise } from '../../contract/values/maybe.ts';
import type { Chain } from './compile-plan.ts';

/**
 * Runs the hooks of stage `config` for a request that is not sent, as for every request. Sets `ctx.configChoice`. Throws `bad_request` if a
 * plugin replies to such requests.
 */
export async function chooseConfig({ chain }: { readonly chain: Chain }, ctx: RequestContext): Promise<void> {
  for (const plugin of chain.plugins) {
    if (plugin.stage !== 'config') continue;
    const outcome = chain.entryHooks.get(plugin.name)?.onRequest?.(ctx);
    const reply = isPromise(outcome) ? await outcome : outcome;
    if (reply) throw new GatewayError('bad_request', { message: `The plugin ${plugin.name} replies to such requests itself` });
  }
}
