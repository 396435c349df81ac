import { definePlugin, rewriteText } from 'svc-gateway/plugin';
import * as v from 'valibot';

/**
 * Replaces words in what the model writes, in plain replies and streams of all formats, also words that are split over several chunks.
 * Load it with `PLUGINS=config/examples/plugins/mask-words.mjs`.
 */
export const plugin = definePlugin({
  apiVersion: 1,
  name: 'mask-words',
  stage: 'output-guardrails',
  reads: { response: 'chunks' },
  config: v.optional(
    v.strictObject({ words: v.pipe(v.array(v.pipe(v.string(), v.minLength(1))), v.minLength(1), v.maxLength(100)) }),
  ),
  example: { words: ['secret'] },

  onConfig(config, _scope, services) {
    if (!config) return null;
    const longest = Math.max(...config.words.map((word) => word.length));
    const mask = (text) => config.words.reduce((masked, word) => masked.replaceAll(word, '*'.repeat(word.length)), text);
    return rewriteText(services, () => {
      let held = '';
      return {
        next(piece) {
          const text = mask(held + piece);
          // A word may have begun in these last characters.
          const decided = Math.max(0, text.length - longest + 1);
          held = text.slice(decided);
          return text.slice(0, decided);
        },
        end: () => held,
      };
    });
  },
});
