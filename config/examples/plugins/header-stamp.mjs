import { definePlugin } from 'svc-gateway/plugin';
import * as v from 'valibot';

/**
 * Adds headers to every reply of a config, also to errors and cached replies. `{id}` stands for the id of the request, `{model}` for its model.
 * Load it with `PLUGINS=config/examples/plugins/header-stamp.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'header-stamp',
  stage: 'limits',
  config: v.optional(v.strictObject({ headers: v.record(v.pipe(v.string(), v.regex(/^x-[a-z0-9-]+$/)), v.string()) })),
  example: { headers: { 'x-served-by': 'gateway' } },

  onConfig(config) {
    if (!config) return null;
    return {
      onRequest(ctx) {
        for (const [name, value] of Object.entries(config.headers)) {
          ctx.replyHeaders.push(name, value.replaceAll('{id}', ctx.id).replaceAll('{model}', ctx.model ?? ''));
        }
      },
    };
  },
});
