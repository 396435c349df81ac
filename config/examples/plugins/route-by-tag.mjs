import { definePlugin } from 'svc-gateway/plugin';

/**
 * Reads a tag such as `#code` at the beginning of the last message, removes it, and sets it as metadata `tag`. A config with the strategy
 * `conditional` then chooses the target by `metadata.tag`. Plugins of the stage `config` run before the config is compiled, so that they have
 * no settings. Load it with `PLUGINS=config/examples/plugins/route-by-tag.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'route-by-tag',
  stage: 'config',
  after: ['config-resolution'],

  onConfig: () => ({
    onRequest(ctx) {
      const message = ctx.params?.messages?.at?.(-1);
      if (typeof message?.content !== 'string') return;
      const [tagged, tag] = /^#([a-z0-9-]{1,32})\s+/.exec(message.content) ?? [];
      if (!tag) return;
      message.content = message.content.slice(tagged.length);
      ctx.bodyChanged = true;
      ctx.metadata = { ...ctx.metadata, tag };
    },
  }),
});
