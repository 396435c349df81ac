import * as v from 'valibot';

/**
 * Rejects requests without the metadata that a config asks for, shows the first of it on the reply, and counts requests by it.
 * plugins/README.md explains how it works. Load it with `PLUGINS=config/examples/plugins/required-metadata.mjs`.
 *
 * @type {import('svc-gateway/plugin').Plugin<{ keys: string[] } | undefined>}
 */
export const plugin = {
  apiVersion: 1,
  name: 'required-metadata',
  stage: 'limits',
  config: v.optional(v.strictObject({ keys: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1)) })),
  // Compiled once at start: a mistake in these hooks stops the start.
  example: { keys: ['team'] },

  onConfig(config, scope, services) {
    // The config does not name this plugin: no hooks, no cost.
    if (!config) return null;
    let requests = 0;
    return {
      onRequest(ctx) {
        const missing = config.keys.filter((key) => !ctx.metadata[key]);
        if (missing.length === 0) {
          ctx.replyHeaders.push(`${ctx.headerPrefix}${config.keys[0]}`, ctx.metadata[config.keys[0]]);
          return undefined;
        }
        const message = `Send ${ctx.headerPrefix}metadata with: ${missing.join(', ')}`;
        const error = { message, type: 'invalid_request_error', param: `${ctx.headerPrefix}metadata`, code: 'missing_metadata' };
        return {
          status: 400,
          headers: ['content-type', 'application/json'],
          body: JSON.stringify({ status: 'failure', message, error }),
        };
      },
      onEnd(ctx, outcome) {
        requests++;
        services.log.info({ config: scope.slug, team: ctx.metadata[config.keys[0]], outcome: outcome.kind, requests }, 'counted');
      },
    };
  },
};
