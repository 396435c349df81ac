import { definePlugin, GatewayError, promptTexts } from 'svc-gateway/plugin';
import * as v from 'valibot';

/**
 * Asks another service whether a request is allowed: POST with the caller, the model and the texts; 200 `{ "allow": boolean, "reason"? }`.
 * Fails closed: without a valid reply the request is rejected with 503. Addresses in private networks need TRUSTED_CUSTOM_HOSTS.
 * Load it with `PLUGINS=config/examples/plugins/ask-policy.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'ask-policy',
  stage: 'input-guardrails',
  config: v.optional(v.strictObject({ url: v.pipe(v.string(), v.url()) })),
  example: { url: 'https://policy.example/decisions' },
  hookTimeoutMs: 2000,

  onConfig(config, _scope, services) {
    if (!config) return null;
    return {
      async onRequest(ctx) {
        const { allow, reason } = await decide(ctx);
        if (allow) return;
        throw new GatewayError('forbidden', { message: `The policy rejects this request: ${reason ?? 'no reason given'}` });
      },
    };

    async function decide(ctx) {
      const body = {
        user: ctx.identity?.userId ?? null,
        metadata: ctx.metadata,
        model: ctx.model,
        texts: promptTexts(ctx.params),
      };
      try {
        // Less than the time of the hook, whose end would be a 500.
        const reply = await services.fetch({ url: config.url, body, timeoutMs: 1500 });
        if (reply.status !== 200) throw new Error(`status ${reply.status}`);
        return v.parse(decision, JSON.parse(Buffer.from(reply.body).toString()));
      } catch (thrown) {
        services.log.warn({ requestId: ctx.id, reason: String(thrown) }, 'the policy service did not decide');
        throw new GatewayError('unavailable', { message: 'The policy service did not decide. Try again shortly' });
      }
    }
  },
});

const decision = v.object({ allow: v.boolean(), reason: v.optional(v.string()) });
