import { createHmac } from 'node:crypto';
import { definePlugin } from 'svc-gateway/plugin';

/**
 * Adds `x-signature`, the HMAC-SHA-256 of the body, to whole replies: those of providers, of the cache and of other plugins. Streams and errors have none:
 * the headers of a stream leave before its body. The stage `record` comes last on the way back, so that no plugin changes the body afterwards.
 * Load it with `REPLY_SIGNING_KEY=… PLUGINS=config/examples/plugins/sign-replies.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'sign-replies',
  stage: 'record',
  reads: { response: 'chunks' },

  onConfig() {
    const key = process.env.REPLY_SIGNING_KEY;
    if (!key) throw new Error('set REPLY_SIGNING_KEY');
    const sign = (ctx, body) => {
      ctx.replyHeaders.push('x-signature', createHmac('sha256', key).update(body).digest('hex'));
    };
    return {
      // A reply that is not a stream comes as one chunk, before its headers are sent.
      onChunk(ctx, chunk) {
        if (!ctx.stream) sign(ctx, chunk);
        return chunk;
      },
      onOwnReply(ctx, reply) {
        sign(ctx, reply.body);
      },
    };
  },
});
