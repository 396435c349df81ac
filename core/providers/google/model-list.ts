import type { ModelList } from '../../contract/provider/model-list.ts';
import { isObject } from '../../contract/values/json/json.ts';
import { proxyPath } from './paths.ts';

/**
 * https://ai.google.dev/api/models#method:-models.list. The next page can be requested by token only, so one page requests all
 * models.
 */
export const modelList: ModelList = {
  path: (settings) => proxyPath('/models?pageSize=1000', settings),
  read: ({ models }) => ({
    models: (Array.isArray(models) ? models : []).flatMap((item: unknown) => {
      if (!isObject(item) || typeof item.name !== 'string') return [];
      const more = {
        display_name: item.displayName,
        context_window: item.inputTokenLimit,
        max_output_tokens: item.outputTokenLimit,
        supported_methods: item.supportedGenerationMethods,
      };
      return [{ id: item.name.replace(/^models\//, ''), created: 0, ownedBy: 'google', more }];
    }),
  }),
};
